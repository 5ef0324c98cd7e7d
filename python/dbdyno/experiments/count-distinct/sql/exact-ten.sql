SELECT count(DISTINCT ten) AS ten FROM distinct_values \gset
