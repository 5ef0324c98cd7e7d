\set a :client_id
\set b :scale * 10
\set c :random_seed
\set d :default_seed = :default_seed
SELECT :client_id, :scale, :random_seed, :a, :b, :c, :d;
