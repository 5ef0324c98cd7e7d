-- A warehouse looks at what it has still to send, and at what was ordered there in a month of the past.
-- Reads only.
\set warehouse random(1, 10)
\set day random(0, 1795)
SELECT order_id, customer_id, order_date, order_total FROM orders
WHERE warehouse_id = :warehouse AND order_status = 'new' ORDER BY order_id LIMIT 20;
SELECT order_status, count(*), sum(order_total) FROM orders
WHERE order_date >= timestamptz '2021-01-01 00:00+00' + make_interval(days => :day)
  AND order_date < timestamptz '2021-01-01 00:00+00' + make_interval(days => :day + 30) AND warehouse_id = :warehouse
GROUP BY order_status ORDER BY order_status;
