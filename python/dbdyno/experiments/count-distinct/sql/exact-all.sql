SELECT count(DISTINCT id) AS id,
       count(DISTINCT ten) AS ten,
       count(DISTINCT wide) AS wide
FROM distinct_values \gset
