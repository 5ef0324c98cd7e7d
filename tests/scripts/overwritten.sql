\set x 1
SELECT :x;
\set x :x + 1.5
SELECT :x;
\set x :x > 2
SELECT :x;
\set x null
SELECT :x::text;
