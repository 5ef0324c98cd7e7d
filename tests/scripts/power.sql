\set a pow(2, 10)
\set b power(2.0, 0.5)
\set c pow(-3, 3)
\set d pow(0, 0)
\set e pow(-2, -3)
\set f pow(9223372036854775807, 2)
\set g power(10, 30)
\set h POW(2.0, -1)
SELECT :a, :b, :c, :d, :e, :f, :g, :h;
