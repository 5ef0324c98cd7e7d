-- The registers as `dbdyno ndv --via sql` has the server make them, with another seed in each block; then their estimate.
WITH registers (k, bucket, least, rows) AS (
SELECT k, b, CASE k WHEN 0 THEN m0 WHEN 1 THEN m1 WHEN 2 THEN m2 END, n FROM (
SELECT CASE GROUPING(b0, b1, b2) WHEN 3 THEN 0 WHEN 5 THEN 1 WHEN 6 THEN 2 END AS k, COALESCE(b0, b1, b2, NULL) AS b, pg_catalog.min(r0) AS m0, pg_catalog.min(r1) AS m1, pg_catalog.min(r2) AS m2, pg_catalog.count(*) AS n
FROM (SELECT ((h0 >> 18) & 16383)::pg_catalog.int4 AS b0, ((h0 & 262143) << 32) | ((h0 >> 32) & 4294967295) AS r0, ((h1 >> 18) & 16383)::pg_catalog.int4 AS b1, ((h1 & 262143) << 32) | ((h1 >> 32) & 4294967295) AS r1, ((h2 >> 18) & 16383)::pg_catalog.int4 AS b2, ((h2 & 262143) << 32) | ((h2 >> 32) & 4294967295) AS r2 FROM (SELECT CASE WHEN r.id::pg_catalog.int8 BETWEEN -2147483648 AND 2147483647 THEN pg_catalog.hashint8extended(r.id::pg_catalog.int8, :random_seed) ELSE pg_catalog.hashbyteaextended(pg_catalog.int8send(r.id::pg_catalog.int8), :random_seed) END AS h0, pg_catalog.hashtextextended(r.ten::pg_catalog.text, :random_seed) AS h1, pg_catalog.hashtextextended(r.wide::pg_catalog.text, :random_seed) AS h2 FROM distinct_values AS r OFFSET 0) AS h OFFSET 0) AS v
GROUP BY GROUPING SETS ((b0), (b1), (b2))) AS g
), sums AS (
    SELECT k, count(*) AS filled, sum(2::float8 ^ (length(ltrim(least::bit(50)::text, '0')) - 51)) AS powers
    FROM registers WHERE bucket IS NOT NULL GROUP BY k
), counted AS (    -- Flajolet, Fusy, Gandouet, Meunier (2007): linear counting where buckets are empty
    SELECT k, CASE WHEN raw > 2.5 * 16384 OR filled = 16384 THEN raw ELSE 16384 * ln(16384 / (16384 - filled)::float8) END AS n
    FROM (SELECT k, filled, 0.7213 / (1 + 1.079 / 16384) * 16384 ^ 2 / (16384 - filled + powers) AS raw FROM sums) AS estimates
)
SELECT max(round(n)) FILTER (WHERE k = 0) AS id,
       max(round(n)) FILTER (WHERE k = 1) AS ten,
       max(round(n)) FILTER (WHERE k = 2) AS wide
FROM counted \gset
