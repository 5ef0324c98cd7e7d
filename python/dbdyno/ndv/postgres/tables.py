"""Which tables a database has, for whoever did not name one, or all of a schema."""

from __future__ import annotations

from dbdyno.errors import DynoError
from dbdyno.ndv.naming import parts_of_name
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

_OF_SCHEMA = """
SELECT pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname)
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'p', 'm') AND NOT c.relispartition AND n.nspname = ANY(%s) ORDER BY c.relname"""
_ALL = ".*"


def largest_tables(session: Connection, most: int) -> list[str]:
    """Names as SQL writes them, the largest first; of partitioned tables the whole."""
    return [name for (name,) in session.execute(_LARGEST.encode(), [most]).fetchall()]


def tables_named(session: Connection, flag: str, text: str) -> list[str]:
    """The table that `text` names; of `schema.*` all that are no parts of others, as SQL writes them.

    Raises:
        DynoError: `bad_names`, `unknown_table`.
    """
    if not text.endswith(_ALL):
        return [text]
    (schema,) = parts_of_name(flag, text.removesuffix(_ALL))[-1:]
    names = [name for (name,) in session.execute(_OF_SCHEMA.encode(), [[schema]]).fetchall()]
    if not names:
        raise DynoError("unknown_table", f"{flag} {text}: no table there in database {session.info.dbname}")
    return names
