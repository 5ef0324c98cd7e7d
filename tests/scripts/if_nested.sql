\set x 0
\if true
  \if false
    \set x 1
  \elif null
    \set x 2
  \else
    \if 1.5
      \set x 3
    \endif
  \endif
\else
  \set x 4
  \if true
    \set x 5
  \endif
\endif
\if false
  \if true
    \set x 6
  \else
    \set x 7
  \endif
\elif :x = 3
  \set y 8
\endif
SELECT :x, :y;
