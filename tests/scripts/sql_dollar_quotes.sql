SELECT $$a; b$$, $tag$c; $$ d$tag$, $a$ $b$ ; $a$;
DO $body$ BEGIN PERFORM 1; PERFORM 2; END $body$;
SELECT 1 AS a$b, 2 AS c$$;
