\set delay 1
\set fraction 1.5
\sleep 10 us
\sleep 1ms
\sleep 0
\sleep :delay ms
\sleep :fraction us
\sleep 0 S
\sleep -1 us
SELECT :delay;
