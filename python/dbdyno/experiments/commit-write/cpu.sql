\set id random(1, 200)
BEGIN;
SELECT burn(300000);
UPDATE account SET balance = balance + 1 WHERE id = :id;
COMMIT;
