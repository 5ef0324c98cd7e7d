\set last 2 * random(1, 5000)
UPDATE account SET balance = balance + 1 WHERE id BETWEEN :last - 1 AND :last;
