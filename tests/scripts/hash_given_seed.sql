\set a hash(10, 5432)
\set b hash_murmur2(10, 5432)
\set c hash_fnv1a(10, 5432)
\set d hash(0, 0)
\set e hash_fnv1a(0, 0)
\set f hash(-9223372036854775808, -1)
\set g hash_fnv1a(-9223372036854775808, -1)
\set h hash(1.6, 2.4)
\set i abs(hash(:a, :b)) % 1000
SELECT :a, :b, :c, :d, :e, :f, :g, :h, :i;
