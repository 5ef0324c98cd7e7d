\set a 1 + \
  2
\if :a = 3
\set b 4
\endif
SELECT :a,
 :b;
