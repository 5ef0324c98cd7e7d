\set a hash(1)
\set b hash(-1)
\set c hash(1) = hash_murmur2(1, :default_seed)
\set d hash_fnv1a(1)
\set e hash_murmur2(9223372036854775807)
SELECT :a, :b, :c, :d, :e;
