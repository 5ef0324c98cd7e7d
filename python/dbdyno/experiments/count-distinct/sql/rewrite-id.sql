SELECT count(*) AS id FROM (SELECT DISTINCT id FROM distinct_values) AS v \gset
