\set id random(1, 10000)
BEGIN;
SET LOCAL synchronous_commit = off;
UPDATE account SET balance = balance + 1 WHERE id = :id;
COMMIT;
