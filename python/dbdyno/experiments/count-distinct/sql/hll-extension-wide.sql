SELECT hll_cardinality(hll_add_agg(hll_hash_text(wide, (:random_seed & 2147483647)::int))) AS wide FROM distinct_values \gset
