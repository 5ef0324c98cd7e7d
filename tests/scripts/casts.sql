-- int() rounds to the nearest integer, a tie to the even one.
\set a int(7.3)
\set b int(0.5)
\set c int(1.5)
\set d int(2.5)
\set e int(-0.5)
\set f int(-1.5)
\set g int(-2.7)
\set h double(3)
\set i double(1) / 3
\set j int(9.2e18)
\set k int(42)
\set l double(9223372036854775807)
SELECT :a, :b, :c, :d, :e, :f, :g, :h, :i, :j, :k, :l;
