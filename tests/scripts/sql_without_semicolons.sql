\set x 1
SELECT :x
\set x 2
SELECT :x
\if :x = 2
SELECT 3
\endif
SELECT 4