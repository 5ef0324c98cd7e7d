\set x 1
\startpipeline
SELECT :x::text;
\set x :x + 1
SELECT :x::text;
\syncpipeline
SELECT 3;
\endpipeline
SELECT :x::text;
