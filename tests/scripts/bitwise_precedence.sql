-- Bitwise operators share one level below sums, and the prefix ~ stands on it.
\set a 1 | 2 + 4
\set b 1 << 2 + 1
\set c ~ 1 + 2
\set d ~ 1 | 2
\set e 1 + ~ 2 * 3
\set f 8 >> 1 << 2 & 12
\set g - ~ 1 + 2
\set h 2 * ~ 3
\set i 1 + ~ 2 | 3
SELECT :a, :b, :c, :d, :e, :f, :g, :h, :i;
