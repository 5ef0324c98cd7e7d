\set a abs(-4)
\set b abs(4)
\set c abs(-1.25)
\set d abs(0)
\set e Abs(-:a)
SELECT :a, :b, :c, :d, :e;
