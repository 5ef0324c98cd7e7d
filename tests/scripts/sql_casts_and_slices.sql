\set v 3
\set lo 1
\set hi 2
SELECT :v::int8, '7'::int, (ARRAY[1,2,3])[:lo ::int: :hi ::int], CAST(:v AS text);
