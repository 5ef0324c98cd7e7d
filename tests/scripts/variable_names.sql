\set _a 1
\set B2 2
\set été 3
\set a_very_long_name_that_goes_on_for_a_while_0123456789 4
\set Case_Matters 5
\set case_matters 6
SELECT :_a, :B2, :été, :a_very_long_name_that_goes_on_for_a_while_0123456789, :Case_Matters, :case_matters;
