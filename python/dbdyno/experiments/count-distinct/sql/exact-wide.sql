SELECT count(DISTINCT wide) AS wide FROM distinct_values \gset
