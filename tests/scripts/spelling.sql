\SET a 1
   \Set b 2
\	set c 3
\set	d	4
\If TRUE
\set e 5
\EndIf
SELECT :a, :b, :c, :d, :e;
