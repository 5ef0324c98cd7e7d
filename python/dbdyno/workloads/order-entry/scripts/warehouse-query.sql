-- The stock-keeper looks for what is nearly sold out, anywhere, and has it refilled. Rows that an order has in hand are
-- passed over, so nobody waits here.
-- Weights let it refill up to 20 rows where four orders are placed: stock does not run down.
BEGIN;
SELECT s.warehouse_id, s.product_id, p.name, s.quantity_on_hand
FROM inventories s JOIN products p USING (product_id)
WHERE s.quantity_on_hand < 100 ORDER BY s.quantity_on_hand LIMIT 20;
WITH low AS MATERIALIZED (
    SELECT product_id, warehouse_id FROM inventories
    WHERE quantity_on_hand < 100 ORDER BY quantity_on_hand LIMIT 20 FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE inventories s
SET quantity_on_hand = s.quantity_on_hand + 500, quantity_received = s.quantity_received + 500
FROM low WHERE s.product_id = low.product_id AND s.warehouse_id = low.warehouse_id;
END;
