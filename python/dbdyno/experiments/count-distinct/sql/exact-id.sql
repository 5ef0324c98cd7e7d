SELECT count(DISTINCT id) AS id FROM distinct_values \gset
