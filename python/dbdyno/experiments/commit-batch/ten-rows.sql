\set last 10 * random(1, 1000)
UPDATE account SET balance = balance + 1 WHERE id BETWEEN :last - 9 AND :last;
