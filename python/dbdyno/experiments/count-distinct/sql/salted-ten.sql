SELECT approx_count_distinct(ten || ':random_seed') AS ten FROM distinct_values
