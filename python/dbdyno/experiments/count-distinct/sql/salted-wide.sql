SELECT approx_count_distinct(wide || ':random_seed') AS wide FROM distinct_values
