\set a 5
SELECT 1 +:a ::int, 3 -:a ::int, 2*:a ::int, :a ::int%2, @ -5, 7 !=:a ::int, 1<>2, '[1,2]'::jsonb->0, 3=-3, 3>=-3;
SELECT a.b FROM (SELECT :a ::int AS b) AS a WHERE b>=:a ::int AND b<=:a ::int;
