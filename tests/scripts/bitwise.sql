\set a 12 & 10
\set b 12 | 3
\set c 12 # 10
\set d ~ 0
\set e ~ 5
\set f 1 << 10
\set g 1024 >> 3
\set h -1024 >> 3
\set i 1 << 63
\set j 1 << 64
\set k 1 << -1
\set l -1 >> 70
\set m 6.6 & 5.2
SELECT :a, :b, :c, :d, :e, :f, :g, :h, :i, :j, :k, :l, :m;
