\set a 1.0 / 3
\set b 2 * 3.5
\set c 1.5 + 1
\set d 1 - 0.75
\set e 1.0 / 0
\set f -1.0 / 0
\set g 10 / 4.0
\set h 1e308 * 10
\set i -0.0
\set j 0.1 + 0.2
SELECT :a, :b, :c, :d, ':e', ':f', :g, ':h', :i, :j;
