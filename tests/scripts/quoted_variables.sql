-- Simple mode replaces variables in strings as well.
\set id 42
SELECT 'user :id', ':id:id', 'a:b', '12:30:45', '{"k":true}', $$ :id $$, ':id'::int AS ":id";
