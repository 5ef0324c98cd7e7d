\set a 1
\set b :a + 1
