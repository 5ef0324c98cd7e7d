\set t true
\set f FALSE
\set a :t and :f
\set b :t or :f
\set c not :t
\set d not not :f
\set e not :f and :t
\set f2 :f or :t and :f
\set g (:f or :t) and :t
\set h True And Not False Or False
SELECT :a, :b, :c, :d, :e, :f2, :g, :h;
