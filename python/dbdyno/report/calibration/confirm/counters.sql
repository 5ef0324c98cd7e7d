-- A row for each connection, and room on its page: no full-page image but the first, and nobody waits for a row.
CREATE TABLE counters WITH (fillfactor = 10) AS SELECT client, 0::bigint AS commits FROM generate_series(0, 63) AS client;
ALTER TABLE counters ADD PRIMARY KEY (client);
