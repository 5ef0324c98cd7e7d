-- The condition of an \elif behind a taken branch is not computed.
\if true
SELECT 1;
\elif 1 / 0
SELECT 2;
\endif
\if false
\if 1 / 0
SELECT 3;
\endif
\endif
\if true
\endif
SELECT 4;
