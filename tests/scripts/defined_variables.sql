-- Set on the command line as text, read as a number, boolean or NULL when an expression needs one.
\set a :text_integer + 1
\set b :text_double * 2
\set c not :text_boolean
\set d :text_null is null
\set e :text_yes and true
\set f :text_signed - 1
\set g :text_spaced + 0
SELECT :text_integer, :text_double, :text_boolean, ':text_null', ':text_yes', :a, :b, :c, :d, :e, :f, :g;
