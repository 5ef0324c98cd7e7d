\set id random(1, 200000)
UPDATE grown SET filled = id WHERE id = :id;
