\set a sqrt(2.0)
\set b sqrt(16)
\set c ln(10)
\set d exp(1)
\set e pi()
\set f ln(exp(2.5))
\set g Exp(-1)
\set h pi() * 2
\set i sqrt(-1.0) = sqrt(-1.0)
SELECT :a, :b, :c, :d, :e, :f, :g, :h, :i;
