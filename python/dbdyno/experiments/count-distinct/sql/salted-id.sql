SELECT approx_count_distinct(id || ':random_seed') AS id FROM distinct_values
