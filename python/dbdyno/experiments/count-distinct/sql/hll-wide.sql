-- The registers as `dbdyno ndv --via sql` has the server make them, with another seed in each block; then their estimate.
WITH registers (k, bucket, least, rows) AS (
SELECT k, b, CASE k WHEN 0 THEN m0 END, n FROM (
SELECT 0 AS k, COALESCE(b0, NULL) AS b, pg_catalog.min(r0) AS m0, pg_catalog.count(*) AS n
FROM (SELECT ((h0 >> 18) & 16383)::pg_catalog.int4 AS b0, ((h0 & 262143) << 32) | ((h0 >> 32) & 4294967295) AS r0 FROM (SELECT pg_catalog.hashtextextended(r.wide::pg_catalog.text, :random_seed) AS h0 FROM distinct_values AS r OFFSET 0) AS h OFFSET 0) AS v
GROUP BY b0) AS g
), sums AS (
    SELECT k, count(*) AS filled, sum(2::float8 ^ (length(ltrim(least::bit(50)::text, '0')) - 51)) AS powers
    FROM registers WHERE bucket IS NOT NULL GROUP BY k
), counted AS (    -- Flajolet, Fusy, Gandouet, Meunier (2007): linear counting where buckets are empty
    SELECT k, CASE WHEN raw > 2.5 * 16384 OR filled = 16384 THEN raw ELSE 16384 * ln(16384 / (16384 - filled)::float8) END AS n
    FROM (SELECT k, filled, 0.7213 / (1 + 1.079 / 16384) * 16384 ^ 2 / (16384 - filled + powers) AS raw FROM sums) AS estimates
)
SELECT round(n) AS wide FROM counted \gset
