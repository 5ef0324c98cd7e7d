\set a debug(1 + 1)
\set b debug(1.5) + debug(2)
\set c debug(null)
\set d debug(true)
SELECT :a, :b, ':c', :d;
