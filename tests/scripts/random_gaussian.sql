\set a random_gaussian(1, 100, 2.0)
\set b random_gaussian(1, 100, 5)
\set c random_gaussian(-100000, 100000, 3.5)
\set d random_gaussian(7, 7, 2.5)
\set e random_gaussian(1, 1000000 * :scale, 10.0)
SELECT :a, :b, :c, :d, :e;
