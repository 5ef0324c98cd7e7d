\set x 3
\if :x > 5
\set branch 1
\elif :x > 2
\set branch 2
\elif :x > 1
\set branch 3
\else
\set branch 4
\endif
SELECT :branch;
\if :x > 5
SELECT 'taken';
\endif
\if not :x > 5
SELECT 'not taken';
\else
SELECT 'taken';
\endif
