-- Somebody looks around: the cheapest products of a category, then one of them with its text and where it is in stock.
-- Reads only.
\set products 1000 * :scale
\set category least(random(1, 20), random(1, 20))
\set product 1 + random_zipfian(1, :products, 1.001) * 7919 % :products
SELECT product_id, name, list_price FROM products
WHERE category_id = :category AND status = 'orderable' ORDER BY list_price LIMIT 20;
SELECT p.name, p.list_price, d.summary, d.description
FROM products p JOIN product_descriptions d USING (product_id)
WHERE p.product_id = :product AND d.language = 'en';
SELECT warehouse_id, quantity_on_hand FROM inventories
WHERE product_id = :product AND quantity_on_hand > 0 ORDER BY warehouse_id;
