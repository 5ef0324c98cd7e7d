-- A unit of work: rounds of a loop, each as long as any other, some milliseconds of CPU in all.
CREATE FUNCTION burn(rounds integer) RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE sum double precision := 0;
BEGIN
  FOR round IN 1 .. rounds LOOP
    sum := sum + sqrt(round);
  END LOOP;
  RETURN sum;
END $$;
