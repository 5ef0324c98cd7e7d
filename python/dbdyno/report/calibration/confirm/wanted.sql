-- As many keys as lie between the two numbers from which on the planner no longer looks them up by the index, at a
-- random_page_cost of $low and of $high.
CREATE TABLE wanted (key bigint);

CREATE FUNCTION want(keys integer) RETURNS void LANGUAGE sql AS $$$$
  TRUNCATE wanted;
  INSERT INTO wanted SELECT (n::bigint * 4973) % 1000003 FROM generate_series(1, keys) AS n;
  ANALYZE wanted;
$$$$;

CREATE FUNCTION fewest_keys_for_a_scan(cost text) RETURNS integer LANGUAGE plpgsql AS $$$$
DECLARE
  by_index integer := 1;
  by_scan  integer := 100000;
  plan     text;
BEGIN
  PERFORM set_config('random_page_cost', cost, true);
  WHILE by_scan > by_index + 1 + by_index / 100 LOOP
    PERFORM want((by_index + by_scan) / 2);
    EXECUTE 'EXPLAIN (FORMAT JSON) SELECT sum(length(filler)) FROM wanted JOIN scattered USING (key)' INTO plan;
    IF plan LIKE '%"Nested Loop"%' THEN
      by_index := (by_index + by_scan) / 2;
    ELSE
      by_scan := (by_index + by_scan) / 2;
    END IF;
  END LOOP;
  RETURN by_scan;
END
$$$$;

ANALYZE scattered;
SELECT want(sqrt(fewest_keys_for_a_scan('$low')::float * fewest_keys_for_a_scan('$high'))::integer);
