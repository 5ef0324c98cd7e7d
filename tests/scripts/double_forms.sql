-- Every spelling of a double, and how each is written back.
\set a 1.
\set b .5
\set c 1e3
\set d 1.5E-3
\set e 2.5e+10
\set f .25e2
\set g 123456789012345678.0
\set h 1e15
\set i 1e14
\set j 0.0001
\set k 0.00001
\set l 12345678901234.5678
\set m 0.1
\set n 100000.0
\set o 1.7976931348623157e308
\set p 2.2250738585072014e-308
\set q 999999999999999.9
\set r 9999999999999999.0
\set s 1e100
SELECT :a, :b, :c, :d, :e, :f, :g, :h, :i, :j, :k, :l, :m, :n, :o, :p, :q, :r, :s;
