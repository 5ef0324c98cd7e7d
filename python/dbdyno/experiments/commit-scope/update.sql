\set id random(1, 10000)
BEGIN;
SET LOCAL extra_float_digits = 1;   -- as much work as the other scripts' SET LOCAL
UPDATE account SET balance = balance + 1 WHERE id = :id;
COMMIT;
