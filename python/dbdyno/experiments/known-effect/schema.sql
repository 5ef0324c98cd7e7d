-- A unit of work: a digest of the same 24 KiB, so many times. A digest is one long chain, each step of which needs the
-- one before, so a neighbour on the same CPU core takes less from it than from other work.
CREATE FUNCTION digest(rounds integer) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  page bytea := convert_to(repeat(repeat('x', 256), 96), 'UTF8');
  sum text;
BEGIN
  FOR round IN 1 .. rounds LOOP
    sum := md5(page);
  END LOOP;
  RETURN sum;
END $$;
