"""Which tables a database has, for whoever did not name one."""

from __future__ import annotations

from dbdyno.targets.target import Connection

# Partitions are parts of a table that is listed itself; its own size is nothing, so theirs are added up.
_LARGEST = """
SELECT pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname)
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'p', 'm') AND NOT c.relispartition
   AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
 ORDER BY CASE WHEN c.relkind = 'p'
               THEN (SELECT pg_catalog.sum(pg_catalog.pg_relation_size(relid)) FROM pg_catalog.pg_partition_tree(c.oid))
               ELSE pg_catalog.pg_relation_size(c.oid) END DESC NULLS LAST, 1
 LIMIT %s"""


def largest_tables(session: Connection, most: int) -> list[str]:
    """Names as SQL writes them, the largest first; of partitioned tables the whole."""
    return [name for (name,) in session.execute(_LARGEST.encode(), [most]).fetchall()]
