\set id random(1, 10000)
UPDATE account SET balance = balance + 1 WHERE id = :id;
