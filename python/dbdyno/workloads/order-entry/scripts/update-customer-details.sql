-- A caller who says when he was born is found, has moved house and has a new card. His own row is locked first, so that
-- two clerks with one customer take turns.
-- Changes rows of one customer in place.
\set customer random(1, 10000 * :scale)
\set house random(1, 250)
\set credit random(1, 100) * 100
BEGIN;
SELECT customer_id, first_name, last_name FROM customers
WHERE date_of_birth = (SELECT date_of_birth FROM customers WHERE customer_id = :customer)
ORDER BY customer_id LIMIT 20;
UPDATE customers SET credit_limit = :credit WHERE customer_id = :customer;
UPDATE addresses SET house_number = :house WHERE customer_id = :customer;
UPDATE card_details SET expires_on = current_date + 1000, is_valid = true WHERE customer_id = :customer;
END;
