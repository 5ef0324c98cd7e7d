SELECT 'one; two', 'it''s; fine', E'back\'s; lash', e'\\', 'no \';
SELECT "quoted;name" FROM (SELECT 1 AS "quoted;name") AS x;
SELECT 'first;'
  'second;', E'a\''
  -- between the parts
  'b\';c';
SELECT N'n;', B'0101', X'1f', U&'d\0061t;';
