SELECT approx_count_distinct(ten) AS ten FROM distinct_values
