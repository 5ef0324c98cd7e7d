-- Operands of > are drawn from right to left, of < from left to right.
\set a random(1, 1000000) > random(1, 1000000)
\set b random(1, 1000000) < random(1, 1000000)
\set c random(1, 1000000)
\set d random(1, 1000000) - random(1, 1000000)
\set e case when random(1, 2) = 1 then random(1, 1000) else random(1001, 2000) end
\set f false and random(1, 2) = 1
\set g random(1, 1000000)
SELECT :a, :b, :c, :d, :e, :f, :g;
