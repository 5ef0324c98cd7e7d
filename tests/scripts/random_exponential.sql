\set a random_exponential(1, 100, 10.0)
\set b random_exponential(1, 100, 0.1)
\set c random_exponential(-100000, 100000, 3)
\set d random_exponential(7, 7, 1.0)
\set e random_exponential(1, 1000000 * :scale, 40.0)
SELECT :a, :b, :c, :d, :e;
