"""The server's own counters around a watch: whole rows, before and after, so that the analysis may take differences.

A view that this version lacks, or that this user may not read, is null and says why.
Rows that did not change are left out: a catalog of 100,000 tables would otherwise be written down twice.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import time
from collections.abc import Mapping, Sequence
from typing import Any, LiteralString

import psycopg
from psycopg import sql
from psycopg.rows import dict_row

from dbdyno.attach.session import MARK
from dbdyno.targets.statements import first_line
from dbdyno.targets.target import Connection

Row = dict[str, Any]

# More relations than this changing within seconds are no help to a reader.
ROWS_MAX = 2000
_TEXT_CHARACTERS_MAX = 4096

# Where the files of a relation lie. A tablespace of 0 is the database's own.
_PLACES = f"""
SELECT {MARK} relation.oid::bigint, coalesce(space.spcname, own.spcname), pg_relation_filepath(relation.oid),
       pg_relation_size(relation.oid)
  FROM pg_class AS relation
  JOIN pg_database AS database ON database.datname = current_database()
  JOIN pg_tablespace AS own ON own.oid = database.dattablespace
  LEFT JOIN pg_tablespace AS space ON space.oid = relation.reltablespace
 WHERE relation.oid = ANY(%s::oid[])
"""


@dataclasses.dataclass(frozen=True, slots=True)
class View:
    """A view of the server: which columns tell its rows apart, and since which version it is there."""

    name: str
    key: tuple[str, ...]
    query: LiteralString
    since: int = 14

    def absent_from(self, major: int) -> str | None:
        """Why a server of this version does not have it."""
        return None if major >= self.since else f"came with PostgreSQL {self.since}"


VIEWS = (
    View("pg_stat_io", ("backend_type", "object", "context"), f"SELECT {MARK} * FROM pg_stat_io", since=16),
    View("pg_stat_database", ("datid",), f"SELECT {MARK} * FROM pg_stat_database"),
    View("pg_stat_wal", (), f"SELECT {MARK} * FROM pg_stat_wal"),
    View("pg_stat_bgwriter", (), f"SELECT {MARK} * FROM pg_stat_bgwriter"),
    View("pg_stat_checkpointer", (), f"SELECT {MARK} * FROM pg_stat_checkpointer", since=17),
    View("pg_statio_user_tables", ("relid",), f"SELECT {MARK} * FROM pg_statio_user_tables"),
    View("pg_statio_user_indexes", ("indexrelid",), f"SELECT {MARK} * FROM pg_statio_user_indexes"),
)
_RELATION_VIEWS = {"pg_statio_user_tables": "relid", "pg_statio_user_indexes": "indexrelid"}
STATEMENTS = "pg_stat_statements"
_STATEMENTS_KEY = ("userid", "dbid", "queryid", "toplevel")


@dataclasses.dataclass(frozen=True, slots=True)
class Reading:
    """All views, one after the other: rows, or why there are none, and when each was read (monotonic)."""

    rows: dict[str, list[Row]]
    absent: dict[str, str]
    read_at_ns: dict[str, int]


def read_all(connection: Connection | None) -> Reading:
    """Every view, each in a statement of its own: one that fails leaves the others alone."""
    if connection is None:
        return Reading({}, dict.fromkeys([*(view.name for view in VIEWS), STATEMENTS], "there is no connection"), {})
    reading = Reading({}, {}, {})
    major = connection.info.server_version // 10000
    for view in VIEWS:
        _read(connection, view.name, sql.SQL(view.query), view.absent_from(major), reading)
    schema = _statements_schema(connection)
    missing = None if schema else "the extension is not in this database"
    # Without the texts, which lie in a file that is read as a whole each time.
    query = sql.SQL("SELECT {} * FROM {}(false)").format(sql.SQL(MARK), sql.Identifier(schema or "", STATEMENTS))
    _read(connection, STATEMENTS, query, missing, reading)
    return reading


def changes(before: Reading, after: Reading, connection: Connection | None) -> dict[str, Any]:
    """`counters` of the record: of each view the rows that changed, as they were and as they are."""
    keys = {view.name: view.key for view in VIEWS} | {STATEMENTS: _STATEMENTS_KEY}
    document = {name: _changed(name, key, before, after) for name, key in keys.items()}
    if connection is not None:
        _add_texts(document[STATEMENTS], connection)
        for name, column in _RELATION_VIEWS.items():
            _add_places(document[name], column, connection)
    return document


def _read(
    connection: Connection,
    name: str,
    query: sql.SQL | sql.Composed,
    missing: str | None,
    reading: Reading,
) -> None:
    if missing is not None:
        reading.absent[name] = missing
        return
    try:
        with connection.cursor(row_factory=dict_row) as cursor:
            reading.rows[name] = [_plain(row) for row in cursor.execute(query).fetchall()]
        reading.read_at_ns[name] = time.monotonic_ns()
    except psycopg.Error as error:
        reading.absent[name] = first_line(error)


def _changed(name: str, key: Sequence[str], before: Reading, after: Reading) -> dict[str, Any]:
    missing = before.absent.get(name) or after.absent.get(name)
    if missing is not None:
        kept = [None if name in reading.absent else reading.rows[name] for reading in (before, after)]
        return {"rows_before": kept[0], "rows_after": kept[1], "note": missing, "elapsed_ns": None}
    then = {tuple(row.get(column) for column in key): row for row in before.rows[name]}
    now = {tuple(row.get(column) for column in key): row for row in after.rows[name]}
    found = [identity for identity, row in now.items() if then.get(identity) != row]
    note = f"{len(found)} rows changed; the first {ROWS_MAX} are kept" if len(found) > ROWS_MAX else None
    found = found[:ROWS_MAX]
    return {
        "rows_before": [then[identity] for identity in found if identity in then],
        "rows_after": [now[identity] for identity in found],
        "note": note,
        "elapsed_ns": after.read_at_ns[name] - before.read_at_ns[name],
    }


def _statements_schema(connection: Connection) -> str | None:
    """Where the extension is, in this database."""
    try:
        row = connection.execute(
            f"SELECT {MARK} nspname FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace"
            " WHERE extname = 'pg_stat_statements'"
        ).fetchone()
    except psycopg.Error:
        return None
    return None if row is None else str(row[0])


def _add_texts(view: dict[str, Any], connection: Connection) -> None:
    """The texts of the statements that ran meanwhile, which the reading without texts leaves null; without ours."""
    rows = view["rows_after"] or []
    schema = _statements_schema(connection) if rows else None
    if schema is None:
        return
    query = sql.SQL("SELECT {} queryid, left(query, {}) FROM {}(true) WHERE queryid = ANY(%s)").format(
        sql.SQL(MARK), sql.Literal(_TEXT_CHARACTERS_MAX), sql.Identifier(schema, STATEMENTS)
    )
    try:
        texts: dict[int, str] = dict(connection.execute(query, [[row["queryid"] for row in rows]]).fetchall())
    except psycopg.Error:
        return
    for row in rows:
        row["query"] = texts.get(row["queryid"])
    ours = {_identity(row) for row in rows if MARK in (row["query"] or "")}
    for when in ("rows_before", "rows_after"):
        view[when] = [row for row in view[when] if _identity(row) not in ours]


def _identity(row: Row) -> tuple[Any, ...]:
    return tuple(row.get(column) for column in _STATEMENTS_KEY)


def _add_places(view: dict[str, Any], column: str, connection: Connection) -> None:
    """`tablespace`, `file` and `bytes` of the relations that were read meanwhile; null where one is gone."""
    rows = view["rows_after"] or []
    if not rows:
        return
    try:
        found = connection.execute(_PLACES.encode(), [[row[column] for row in rows]]).fetchall()
    except psycopg.Error:
        return
    places = {oid: place for oid, *place in found}
    for row in rows:
        row["tablespace"], row["file"], row["bytes"] = places.get(row[column], (None, None, None))


def _plain(row: Mapping[str, Any]) -> Row:
    return {name: _value(value) for name, value in row.items()}


def _value(value: object) -> object:
    """A value as JSON has it: numbers stay numbers, a moment becomes ISO 8601, a length of time nanoseconds."""
    match value:
        case decimal.Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case datetime.datetime():
            return value.isoformat()
        case datetime.timedelta():
            return round(value.total_seconds() * 1e9)
        case None | bool() | int() | float() | str():
            return value
        case _:
            return str(value)
