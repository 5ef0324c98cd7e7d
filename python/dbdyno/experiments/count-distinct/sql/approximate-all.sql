SELECT approx_count_distinct(id) AS id,
       approx_count_distinct(ten) AS ten,
       approx_count_distinct(wide) AS wide
FROM distinct_values
