SELECT 1 AS a \; SELECT 2 AS b UNION SELECT 3 ORDER BY 1 \; SELECT 4 AS c \aset
SELECT 5 AS d \aset p_
\set sum :a + :b + :c + :p_d
SELECT :sum;
