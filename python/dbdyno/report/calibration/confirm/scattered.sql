-- A million rows of 200 bytes; the index leads to them in no order.
CREATE TABLE scattered AS
  SELECT (n::bigint * 7919) % 1000003 AS key, repeat('x', 160) AS filler FROM generate_series(1, 1000000) AS n;
CREATE INDEX ON scattered (key);
