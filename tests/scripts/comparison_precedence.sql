\set a 1 + 1 = 2
\set b 1 = 1 and 2 = 2
\set c 1 < 2 is null
\set d 1 | 2 > 2
\set e not 1 = 2
\set f 1 = 2 isnull
\set g (1 < 2) is true
SELECT :a, :b, :c, :d, :e, :f, :g;
