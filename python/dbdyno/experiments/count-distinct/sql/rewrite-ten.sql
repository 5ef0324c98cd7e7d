SELECT count(*) AS ten FROM (SELECT DISTINCT ten FROM distinct_values) AS v \gset
