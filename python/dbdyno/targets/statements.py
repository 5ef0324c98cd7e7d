"""Statements of the control connection, and what becomes of their failures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import psycopg
from psycopg import sql

from dbdyno.errors import EXIT_RUN_FAILED, DynoError
from dbdyno.targets.target import Connection

_SHOWN_CHARACTERS = 60


@contextmanager
def failing_as_run_failure(statement: str) -> Iterator[None]:
    """Turn a database error into a failure of the run, in one line: the statement's beginning and the cause."""
    try:
        yield
    except psycopg.Error as error:
        shown = " ".join(statement.split())
        if len(shown) > _SHOWN_CHARACTERS:
            shown = shown[:_SHOWN_CHARACTERS] + "..."
        raise DynoError("sql_failed", f"{shown}: {first_line(error)}", exit_code=EXIT_RUN_FAILED) from error


def first_line(error: psycopg.Error) -> str:
    """The server's message without detail, hint and position."""
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__


def vacuum_statement(tables: Sequence[str]) -> sql.Composed:
    """VACUUM (ANALYZE) of `tables`, each `name` or `schema.name`; of all when none is named."""
    return sql.SQL("VACUUM (ANALYZE) {}").format(_names(tables))


def analyze_statement(tables: Sequence[str]) -> sql.Composed:
    """ANALYZE of `tables`, as in `vacuum_statement`."""
    return sql.SQL("ANALYZE {}").format(_names(tables))


def copy_rows(session: Connection, table: str, columns: Sequence[str], chunks: Iterable[bytes]) -> None:
    """COPY rows in text format into `table`, `name` or `schema.name`; all of them or none."""
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(
        _names([table]), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with failing_as_run_failure(f"COPY {table}"), session.cursor() as cursor, cursor.copy(statement) as stream:
        for chunk in chunks:
            stream.write(chunk)


def _names(tables: Sequence[str]) -> sql.Composed:
    return sql.SQL(", ").join(sql.Identifier(*table.split(".")) for table in tables)
