SELECT hll_cardinality(hll_add_agg(hll_hash_text(ten, (:random_seed & 2147483647)::int))) AS ten FROM distinct_values \gset
