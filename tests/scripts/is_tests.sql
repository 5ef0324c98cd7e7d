\set n null
\set a :n is null
\set b :n is not null
\set c :n isnull
\set d :n notnull
\set e 0 is null
\set f 0 notnull
\set g true is true
\set h true is not true
\set i false is false
\set j :n is true
\set k :n is not false
\set l 1 is true
\set m 1.0 is not null
\set o 5 is null is false
\set p :n is null isnull
SELECT :a, :b, :c, :d, :e, :f, :g, :h, :i, :j, :k, :l, :m, :o, :p;
