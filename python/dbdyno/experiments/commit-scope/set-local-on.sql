\set id random(1, 10000)
BEGIN;
SET LOCAL synchronous_commit = on;
UPDATE account SET balance = balance + 1 WHERE id = :id;
COMMIT;
