-- What a unit reads: 120,000 rows in about 650 pages, some milliseconds of CPU and no waits.
CREATE TABLE reading (id integer PRIMARY KEY, value double precision NOT NULL);

INSERT INTO reading SELECT id, sqrt(id) FROM generate_series(1, 120000) AS id;

-- Called last in a transaction: makes it longer by `share` of the time that it has taken so far, and says how long
-- that was. All arms call it, the baseline with share 0, so that what the call itself costs is the same in all.
--
-- The share is paid in the mean, to the microsecond: what a unit paid too much, because the host took its CPU away or
-- a sleep was late, the next units of the session need not pay. `known_effect.debt` keeps the balance.
--
-- It pays with CPU in a loop that reads the clock, or asleep. pg_sleep takes whole milliseconds of a timer and wakes up
-- late, so there is one sleep of 1 ms whenever a unit owes anything; the first balance of a session is drawn, so that
-- a window begins anywhere between two sleeps.
CREATE FUNCTION stretch(share double precision, asleep boolean, work double precision) RETURNS interval
LANGUAGE plpgsql AS $$
DECLARE
  taken  interval := clock_timestamp() - transaction_timestamp();
  debt   interval := coalesce(nullif(current_setting('known_effect.debt', true), '')::interval,
                              asleep::integer * random() * interval '-1 ms');
  paid   timestamptz;
BEGIN
  debt := debt + taken * share;
  paid := clock_timestamp() + debt;
  IF NOT asleep THEN
    WHILE clock_timestamp() < paid LOOP
    END LOOP;
  ELSIF clock_timestamp() < paid THEN
    PERFORM pg_sleep(0.0009);  -- rounded up to 1 ms
  END IF;
  PERFORM set_config('known_effect.debt', (paid - clock_timestamp())::text, false);
  RETURN taken;
END $$;
