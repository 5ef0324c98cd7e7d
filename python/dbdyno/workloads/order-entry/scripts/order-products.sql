-- A customer logs on and orders one to five products from a warehouse.
-- The rows of the stock are locked in the order of their products before any is changed, and a product of which there
-- is not enough is left out; an order of which nothing is left is not placed.
-- Grows: logon by one row, orders by one, order_items by one to five.
\set products 1000 * :scale
\set customer random(1, 10000 * :scale)
\set sales_rep random(1, 100 * :scale)
\set warehouse random(1, 10)
\set lines random(1, 5)
\set product_1 1 + random_zipfian(1, :products, 1.001) * 7919 % :products
\set product_2 1 + random_zipfian(1, :products, 1.001) * 7919 % :products
\set product_3 1 + random_zipfian(1, :products, 1.001) * 7919 % :products
\set product_4 1 + random_zipfian(1, :products, 1.001) * 7919 % :products
\set product_5 1 + random_zipfian(1, :products, 1.001) * 7919 % :products
-- An order of fewer lines has the first product in place of those that it lacks, and none of it.
\set quantity_1 random(1, 5)
\set quantity_2 case when :lines >= 2 then random(1, 5) else 0 end
\set quantity_3 case when :lines >= 3 then random(1, 5) else 0 end
\set quantity_4 case when :lines >= 4 then random(1, 5) else 0 end
\set quantity_5 case when :lines >= 5 then random(1, 5) else 0 end
\set product_2 case when :lines >= 2 then :product_2 else :product_1 end
\set product_3 case when :lines >= 3 then :product_3 else :product_1 end
\set product_4 case when :lines >= 4 then :product_4 else :product_1 end
\set product_5 case when :lines >= 5 then :product_5 else :product_1 end
BEGIN;
INSERT INTO logon (customer_id, logged_on_at) VALUES (:customer, now());
SELECT c.first_name, c.last_name, c.customer_class, c.credit_limit, a.house_number, a.street, a.town
FROM customers c JOIN addresses a USING (customer_id) WHERE c.customer_id = :customer;
SELECT product_id, quantity_on_hand FROM inventories
WHERE warehouse_id = :warehouse AND product_id IN (:product_1, :product_2, :product_3, :product_4, :product_5)
ORDER BY product_id FOR NO KEY UPDATE;
WITH wanted AS (
    SELECT product_id, sum(quantity)::integer AS quantity
    FROM (VALUES (:product_1::integer, :quantity_1::integer), (:product_2, :quantity_2), (:product_3, :quantity_3),
                 (:product_4, :quantity_4), (:product_5, :quantity_5)) AS line (product_id, quantity)
    GROUP BY product_id
), taken AS (
    UPDATE inventories s
    SET quantity_on_hand = s.quantity_on_hand - w.quantity, quantity_issued = s.quantity_issued + w.quantity
    FROM wanted w
    WHERE s.product_id = w.product_id AND s.warehouse_id = :warehouse AND s.quantity_on_hand >= w.quantity
    RETURNING s.product_id, w.quantity
), priced AS (
    SELECT row_number() OVER (ORDER BY product_id) AS line, product_id, list_price, quantity
    FROM taken JOIN products USING (product_id)
), placed AS (
    INSERT INTO orders (customer_id, order_date, order_mode, order_status, order_total, sales_rep_id, warehouse_id,
                        delivery_address_id, delivery_type, delivery_cost, from_stock)
    SELECT :customer, now(), 'online', 'new', sum(list_price * quantity), :sales_rep, :warehouse,
           (SELECT min(address_id) FROM addresses WHERE customer_id = :customer), 'standard', 5, true
    FROM priced HAVING count(*) > 0
    RETURNING order_id
)
INSERT INTO order_items (order_id, line, product_id, unit_price, quantity)
SELECT order_id, line, product_id, list_price, quantity FROM placed CROSS JOIN priced;
END;
