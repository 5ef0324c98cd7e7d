-- The table of the classic comparison: 10,000 rows for each unit of scale. What is unique is so by construction.
CREATE TABLE distinct_values (
    id   bigint NOT NULL,    -- 1, 2, 3, ... in the order in which they lie
    ten  text   NOT NULL,    -- 10 values of 200 bytes
    wide text   NOT NULL     -- 200 bytes, all different: hashes of the number, and the number itself at the end
);

INSERT INTO distinct_values
SELECT id, t.value,
       encode(sha512(id::text::bytea), 'hex') || encode(sha256(id::text::bytea), 'hex') || lpad(to_hex(id), 8, '0')
FROM generate_series(1, current_setting('dbdyno.scale')::bigint * 10000) AS id
JOIN (SELECT n, encode(sha512(n::text::bytea), 'hex') || encode(sha256(n::text::bytea), 'hex') || lpad(n::text, 8, '0')
      FROM generate_series(0, 9) AS n) AS t (n, value) ON t.n = id % 10
ORDER BY id;
