-- Precedence and sign of the four operations and the remainder.
\set a 2 + 3 * 4
\set b (2 + 3) * 4
\set c 20 - 5 - 3
\set d -7 / 2
\set e -7 % 2
\set f 7 % -2
\set g 7 / -1
\set h 7 % -1
\set i mod(-19 * 11 - 17, 19)
\set j - - 3
\set k +4 - -4
\set l 100 / 7 * 7 + 100 % 7
SELECT :a, :b, :c, :d, :e, :f, :g, :h, :i, :j, :k, :l;
