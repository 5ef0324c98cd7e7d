\set x 7
\set a case when :x < 5 then 1 when :x < 10 then 2 else 3 end
\set b case when :x < 5 then 1 when :x < 6 then 2 else 3 end
\set c case when false then 1 end
\set d CASE WHEN :x = 7 THEN 1.5 ELSE 2 END * 2
\set e case when true then case when false then 1 else 2 end else 3 end
\set f case when null then 1 else 2 end
\set g case when 3 then 1 else 2 end
\set h case when 0.0 then 1 else 2 end
\set i case when :x > 1 and :x < 9 then true else false end
SELECT :a, :b, ':c', :d, :e, :f, :g, :h, :i;
