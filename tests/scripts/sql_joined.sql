\set x 1
SELECT 1 \; SELECT 2 \; SELECT 3;
SELECT :x, (ARRAY[4, 5, 6])[1 \: 2];
\; \; SELECT 7 \;
