SELECT count(*) AS wide FROM (SELECT DISTINCT wide FROM distinct_values) AS v \gset
