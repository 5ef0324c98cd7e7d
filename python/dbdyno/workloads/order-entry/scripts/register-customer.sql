-- Somebody signs up: a customer with an address and a card, whose name and street are those of somebody there already,
-- so that names stay as frequent as they were. The e-mail address is nobody else's.
-- Grows: customers, addresses, card_details and logon by one row each. Scripts choose among the customers of the load
-- only, so the data that they touch stays the same.
\set namesake random(1, 10000 * :scale)
\set manager random(1, 100 * :scale)
\set house random(1, 250)
\set digits random(1000, 9999)
BEGIN;
INSERT INTO customers (first_name, last_name, email, phone, date_of_birth, customer_class, language, country,
                       credit_limit, account_manager_id, customer_since)
SELECT first_name, last_name, lower(first_name || '.' || last_name || '.') || gen_random_uuid() || '@example.com',
       phone, date_of_birth, 'regular', language, country, 100, :manager, current_date
FROM customers WHERE customer_id = :namesake
RETURNING customer_id \gset
INSERT INTO addresses (customer_id, house_number, street, town, post_code, country, created_on)
SELECT :customer_id, :house, street, town, post_code, country, current_date
FROM addresses WHERE address_id = :namesake;
INSERT INTO card_details (customer_id, card_type, last_digits, expires_on, is_valid)
VALUES (:customer_id, 'debit', :digits, current_date + 1000, true);
INSERT INTO logon (customer_id, logged_on_at) VALUES (:customer_id, now());
END;
