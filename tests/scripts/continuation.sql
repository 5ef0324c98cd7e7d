-- A backslash at the end of a line continues a meta-command.
\set a 1 + \
  2 + \
  3
\set \
  b \
  :a * 2
\set c case \
  when :a = 6 then 1 \
  else 2 \
end
SELECT :a, :b, :c;
