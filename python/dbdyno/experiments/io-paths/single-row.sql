-- One row of a page that no unit before has looked at: the page is read, and nothing else is.
\set n :n + 1
\set page permute(:n, 1380 * :scale, :random_seed)
SELECT * FROM web_returns WHERE ctid = ('(' || :page || ',1)')::tid;
