\set aid random(1, 100000 * :scale)
\set delta random(-5000, 5000)
BEGIN;
CREATE TEMP TABLE IF NOT EXISTS accounts (aid int8, abalance int8);
INSERT INTO accounts VALUES (:aid, :delta);
UPDATE accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM accounts WHERE aid = :aid;
END;
