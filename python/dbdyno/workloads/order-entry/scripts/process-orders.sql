-- The oldest new orders leave the house, four at a time. Orders that somebody else has in hand are passed over, so
-- nobody waits here.
-- Weights let it send 32 orders where 20 are placed: the queue of new orders does not grow.
BEGIN;
WITH picked AS MATERIALIZED (
    SELECT order_id FROM orders WHERE order_status = 'new' ORDER BY order_id LIMIT 4 FOR NO KEY UPDATE SKIP LOCKED
), shipped AS (
    UPDATE orders o SET order_status = 'shipped', shipped_on = current_date
    FROM picked WHERE o.order_id = picked.order_id
    RETURNING o.order_id
)
UPDATE order_items i SET dispatched_on = current_date FROM shipped WHERE i.order_id = shipped.order_id;
END;
