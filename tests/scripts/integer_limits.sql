-- The least integer is written with its sign; results may touch both ends.
\set low -9223372036854775808
\set high 9223372036854775807
\set a :low + :high
\set b :low + 1 - 1
\set c :high - 0
\set d -(:low + 1)
\set e :high / -1
\set f :low % -1
\set g 4611686018427387904 * -2
\set h 3037000499 * 3037000499
\set i abs(:low)
SELECT :low, :high, :a, :b, :c, :d, :e, :f, :g, :h, :i;
