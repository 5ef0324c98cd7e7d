\set id random(1, 10000)
BEGIN;
SELECT burn(150000);
UPDATE account SET balance = balance + 1 WHERE id = :id;
COMMIT;
