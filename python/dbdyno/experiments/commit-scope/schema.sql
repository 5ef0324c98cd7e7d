-- 10,000 accounts in about 270 half-full pages: small, so that the full-page images after a checkpoint are over
-- before the window begins, and large, so that five clients hardly ever want the same row.
CREATE TABLE account (
  id      integer PRIMARY KEY,
  balance bigint NOT NULL,
  filler  char(80) NOT NULL
) WITH (fillfactor = 50);

INSERT INTO account SELECT id, 0, '' FROM generate_series(1, 10000) AS id;

