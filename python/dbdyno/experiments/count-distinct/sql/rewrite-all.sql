SELECT (SELECT count(*) FROM (SELECT DISTINCT id FROM distinct_values) AS v) AS id,
       (SELECT count(*) FROM (SELECT DISTINCT ten FROM distinct_values) AS v) AS ten,
       (SELECT count(*) FROM (SELECT DISTINCT wide FROM distinct_values) AS v) AS wide \gset
