\set a 1 < 2
\set b 2 <= 2
\set c 3 > 4
\set d 4 >= 4
\set e 5 = 5.0
\set f 5 <> 6
\set g 5 != 5
\set h 1.5 < 1.25
\set i 1 < 2.5
\set j 2 > 1.5
\set k 1e300 >= 1e299
SELECT :a, :b, :c, :d, :e, :f, :g, :h, :i, :j, :k;
