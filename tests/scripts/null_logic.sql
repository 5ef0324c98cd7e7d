-- NULL on the left decides AND and OR, unlike in SQL.
\set n NULL
\set a :n and false
\set b false and :n
\set c true and :n
\set d :n or true
\set e true or :n
\set f false or :n
\set g not :n
\set h :n + 1
\set i :n = :n
\set j sqrt(:n)
\set k least(1, :n)
\set l random(1, :n)
\set m -:n
\set o hash(:n)
\set p :n / 0
SELECT ':a', :b, ':c', ':d', :e, ':f', ':g', ':h', ':i', ':j', ':k', ':l', ':m', ':o', ':p';
