\set a random_zipfian(1, 100, 1.1)
\set b random_zipfian(1, 100, 3)
\set c random_zipfian(-100000, 100000, 1.5)
\set d random_zipfian(7, 7, 1.2)
\set e random_zipfian(1, 1000000 * :scale, 1.001)
\set f random_zipfian(1, 10, 1000)
SELECT :a, :b, :c, :d, :e, :f;
