SELECT approx_count_distinct(id) AS id FROM distinct_values
