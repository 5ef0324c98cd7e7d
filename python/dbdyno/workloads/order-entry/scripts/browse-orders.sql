-- A customer on the telephone: the clerk finds him by his name, looks at his last orders and the items of the last one,
-- and has it sent faster if it has not left yet.
-- Changes the last order of one customer in place.
\set customer random(1, 10000 * :scale)
\set cost random(5, 20)
BEGIN;
SELECT customer_id, first_name, last_name, email FROM customers
WHERE lower(last_name) = (SELECT lower(last_name) FROM customers WHERE customer_id = :customer)
ORDER BY first_name, customer_id LIMIT 20;
SELECT order_id, order_date, order_status, order_total FROM orders
WHERE customer_id = :customer ORDER BY order_date DESC LIMIT 5;
SELECT i.line, p.name, i.quantity, i.unit_price, i.dispatched_on
FROM order_items i JOIN products p USING (product_id)
WHERE i.order_id = (SELECT order_id FROM orders WHERE customer_id = :customer ORDER BY order_date DESC LIMIT 1)
ORDER BY i.line;
UPDATE orders SET delivery_type = 'express', delivery_cost = :cost
WHERE order_id = (SELECT order_id FROM orders WHERE customer_id = :customer ORDER BY order_date DESC LIMIT 1)
  AND order_status = 'new';
END;
