SELECT hll_cardinality(hll_add_agg(hll_hash_bigint(id, (:random_seed & 2147483647)::int))) AS id FROM distinct_values \gset
