"""The relation whose columns are counted: found by its name, and what the server says of it as a whole."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import psycopg

from dbdyno.errors import DynoError
from dbdyno.ndv.naming import parts_of_name
from dbdyno.ndv.postgres.planner import planner_rows
from dbdyno.targets.target import Connection

KINDS = {"r": "table", "p": "partitioned", "v": "view", "m": "materialised view", "f": "foreign table"}
_OTHER_KINDS = {"i": "an index", "I": "an index", "S": "a sequence", "c": "a type", "t": "a TOAST table"}


@dataclasses.dataclass(frozen=True, slots=True)
class Relation:
    """One relation.

    Attributes:
        quoted: schema and name as SQL writes them; `schema_quoted` the schema alone.
        kind: a value of `KINDS`.
        tree: whether other relations are part of it: partitions, or tables that inherit from it.
        leaves: how many relations hold its rows; 1 without a tree, 0 of a view.
        pages: of all leaves, as they are now; of a view, or a foreign table, none.
        planner_rows: how many rows the planner believes it has.
        reltuples: as VACUUM or ANALYZE left it; -1 before the first.
        analyzed_at: the last ANALYZE, by whomever, in ISO 8601; None where none is known.
        changed_rows: since then.
        inserted_rows, deleted_rows: in `counted_days`, since the server's counters were reset.
        owned: whether we may ALTER it.
    """

    oid: int
    schema: str
    name: str
    quoted: str
    schema_quoted: str
    kind: str
    tree: bool
    leaves: int
    pages: int
    planner_rows: float
    reltuples: float
    relpages: int
    analyzed_at: str | None
    changed_rows: int
    inserted_rows: int
    deleted_rows: int
    counted_days: float | None
    owned: bool


_VISIBLE = "SELECT pg_catalog.to_regclass(%s)::pg_catalog.oid::pg_catalog.int8"

_EXACT = """
SELECT c.oid::pg_catalog.int8, pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname)
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relname = %(name)s AND n.nspname = COALESCE(%(schema)s, n.nspname) AND c.relkind = ANY(%(kinds)s)
 ORDER BY pg_catalog.pg_table_is_visible(c.oid) DESC, 2"""

# A leaf of a partition tree has its rows itself; of an inheritance tree every relation has.
_FACTS = """
WITH RECURSIVE tree AS (
  SELECT c.oid FROM pg_catalog.pg_class c WHERE c.oid = %(oid)s
  UNION
  SELECT i.inhrelid FROM pg_catalog.pg_inherits i JOIN tree ON i.inhparent = tree.oid WHERE NOT i.inhdetachpending
), leaves AS (
  SELECT c.oid, c.relkind FROM tree JOIN pg_catalog.pg_class c USING (oid) WHERE c.relkind IN ('r', 'm', 'f')
), sums AS (
  SELECT pg_catalog.count(*) AS leaves,
         pg_catalog.sum(CASE WHEN relkind = 'f' THEN 0 ELSE pg_catalog.pg_relation_size(oid) END)
           / pg_catalog.current_setting('block_size')::int8 AS pages,
         pg_catalog.sum(pg_catalog.pg_stat_get_mod_since_analyze(oid)) AS changed,
         pg_catalog.sum(pg_catalog.pg_stat_get_tuples_inserted(oid)) AS inserted,
         pg_catalog.sum(pg_catalog.pg_stat_get_tuples_deleted(oid)) AS deleted
    FROM leaves)
SELECT c.oid::int8, n.nspname, c.relname,
       pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname), c.relkind::text,
       (SELECT pg_catalog.count(*) > 1 FROM tree) OR c.relkind = 'p', sums.leaves, COALESCE(sums.pages, 0)::int8,
       c.reltuples::float8, c.relpages,
       GREATEST(pg_catalog.pg_stat_get_last_analyze_time(c.oid), pg_catalog.pg_stat_get_last_autoanalyze_time(c.oid)),
       COALESCE(sums.changed, 0)::int8, COALESCE(sums.inserted, 0)::int8, COALESCE(sums.deleted, 0)::int8,
       (SELECT EXTRACT(epoch FROM pg_catalog.now() - COALESCE(d.stats_reset, pg_catalog.pg_postmaster_start_time()))
          FROM pg_catalog.pg_stat_database d WHERE d.datname = pg_catalog.current_database())::float8 / 86400,
       pg_catalog.pg_has_role(c.relowner, 'USAGE'), pg_catalog.row_security_active(c.oid),
       pg_catalog.quote_ident(n.nspname)
  FROM sums, pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE c.oid = %(oid)s"""


def find_relation(session: Connection, flag: str, text: str) -> int:
    """The oid of the relation that `text` names: as SQL reads it, by the search_path; else by that very name.

    Raises:
        DynoError: `bad_names`, `unknown_table`, `ambiguous_table`.
    """
    try:
        row = session.execute(_VISIBLE, [text]).fetchone()
    except psycopg.Error:  # no name as SQL writes one
        row = None
    if row is not None and row[0] is not None:
        return int(row[0])
    for schema, name in _readings(flag, text):
        found = session.execute(_EXACT, {"schema": schema, "name": name, "kinds": list(KINDS)}).fetchall()
        if len(found) > 1:
            names = ", ".join(quoted for _, quoted in found)
            raise DynoError("ambiguous_table", f"{flag} {text}: there are {names}; name one of them")
        if found:
            return int(found[0][0])
    database = session.info.dbname
    raise DynoError("unknown_table", f"{flag} {text}: no such table in database {database}; check name and schema")


def read_relation(session: Connection, oid: int) -> Relation:
    """What the server says of it; in a transaction, or in autocommit.

    Raises:
        DynoError: `not_a_table`, `row_security`, `permission_denied`.
    """
    row = session.execute(_FACTS, {"oid": oid}).fetchone()
    if row is None:
        raise DynoError("unknown_table", "--table: it is gone; check name and schema")
    quoted, kind = row[3], row[4]
    if kind not in KINDS:
        raise DynoError("not_a_table", f"--table {quoted}: is {_OTHER_KINDS.get(kind, 'no table')}; name a table")
    if row[16]:
        raise DynoError(
            "row_security",
            f"--table {quoted}: row-level security hides rows from this user, and a count of the others would mislead; "
            "connect as its owner or as a role with BYPASSRLS",
        )
    return Relation(
        oid=row[0],
        schema=row[1],
        name=row[2],
        quoted=quoted,
        schema_quoted=row[17],
        kind=KINDS[kind],
        tree=row[5],
        leaves=row[6],
        pages=row[7],
        planner_rows=planner_rows(session, quoted),
        reltuples=row[8],
        relpages=row[9],
        analyzed_at=row[10].isoformat() if row[10] is not None else None,
        changed_rows=row[11],
        inserted_rows=row[12],
        deleted_rows=row[13],
        counted_days=row[14],
        owned=row[15],
    )


def _readings(flag: str, text: str) -> Sequence[tuple[str | None, str]]:
    """`a.b` as table b of schema a, then as a table of that very name."""
    try:
        parts = parts_of_name(flag, text)
    except DynoError:
        parts = [text]
    as_written: tuple[str | None, str] = (None, text)
    if len(parts) == 1:
        return [(None, parts[0]), as_written]
    return [(parts[-2], parts[-1]), as_written]
