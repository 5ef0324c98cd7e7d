-- What is not needed is not computed: no division by zero happens here.
\set zero 0
\set a case when :zero = 0 then -1 else 1 / :zero end
\set b case when :zero <> 0 and 1 / :zero > 0 then 1 else 2 end
\set c case when :zero = 0 or 1 / :zero > 0 then 1 else 2 end
\set d false and 1 / 0 = 1
\set e case when true then 5 else 1 / 0 end
SELECT :a, :b, :c, :d, :e;
