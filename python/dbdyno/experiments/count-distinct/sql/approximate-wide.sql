SELECT approx_count_distinct(wide) AS wide FROM distinct_values
