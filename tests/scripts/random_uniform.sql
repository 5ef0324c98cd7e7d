\set a random(1, 100000 * :scale)
\set b random(1, 1)
\set c random(-5000, 5000)
\set d random(-9223372036854775807, -1)
\set e random(0, 9223372036854775806)
\set f random(1, 6) + random(1, 6)
\set g random(1.4, 6.6)
\set h random(0, 1)
SELECT :a, :b, :c, :d, :e, :f, :g, :h;
