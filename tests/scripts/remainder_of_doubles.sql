-- % rounds doubles to integers first.
\set a 7.6 % 3
\set b 7.4 % 2.6
\set c mod(9.5, 4)
SELECT :a, :b, :c;
