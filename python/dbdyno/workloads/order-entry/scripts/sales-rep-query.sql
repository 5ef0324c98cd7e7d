-- A sales representative looks at his last orders, at what a quarter brought, and at his best customers.
-- Reads only.
\set sales_rep random(1, 100 * :scale)
\set day random(0, 1735)
SELECT order_id, customer_id, order_date, order_status, order_total FROM orders
WHERE sales_rep_id = :sales_rep ORDER BY order_date DESC LIMIT 20;
SELECT count(*), sum(order_total) FROM orders
WHERE sales_rep_id = :sales_rep AND order_date >= timestamptz '2021-01-01 00:00+00' + make_interval(days => :day)
  AND order_date < timestamptz '2021-01-01 00:00+00' + make_interval(days => :day + 90);
SELECT customer_id, first_name, last_name, credit_limit FROM customers
WHERE account_manager_id = :sales_rep ORDER BY credit_limit DESC LIMIT 20;
