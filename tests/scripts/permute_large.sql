\set size 9223372036854775807
\set a permute(0, :size, 5432)
\set b permute(:size - 1, :size, 5432)
\set c permute(123456789, 4611686018427387904, -3)
\set d permute(123456789, 4611686018427387905, -3)
\set e permute(77, 1000000)
\set f permute(77, 1000000) = permute(77, 1000000, :default_seed)
\set g permute(7.0, 1e6, 3)
SELECT :a, :b, :c, :d, :e, :f, :g;
