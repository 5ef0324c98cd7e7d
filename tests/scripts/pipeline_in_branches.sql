\set deep true
\if :deep
\startpipeline
\endif
SELECT 1;
\if :deep
\endpipeline
\endif
SELECT 2 AS two;
