SELECT 1 AS one, 2 AS two \gset
SELECT 3 AS three \gset prefix_
SELECT 4 AS four; \gset
\set sum :one + :two + :prefix_three + :four
SELECT :sum;
