SELECT approx_count_distinct(id || ':random_seed') AS id,
       approx_count_distinct(ten || ':random_seed') AS ten,
       approx_count_distinct(wide || ':random_seed') AS wide
FROM distinct_values
