"""A SQLite database as `databases.Session`: what it says of its tables, and their rows as canonical bytes."""

from __future__ import annotations

import contextlib
import dataclasses
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from dbdyno.ndv.binary_stream import BinaryStream
from dbdyno.ndv.databases import Table
from dbdyno.ndv.naming import quoted, shown
from dbdyno.ndv.sqlite import database, rows
from dbdyno.ndv.sqlite.collation import collation_of

# Its name stands in the type of sketches, so that they merge with their like only.
_ENCODING = "sqlite"
_UNKNOWN_COLLATION = "only the application that made it knows by which collation its texts are equal"


@contextlib.contextmanager
def opened(path: Path) -> Iterator[SqliteSession]:
    """The database, for reading. Raises `DynoError`: `database_unreadable`, `source_changed`."""
    with database.opened(path) as connection:
        yield SqliteSession(connection)


class SqliteSession:
    """See `databases.Session`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def tables(self) -> list[str]:
        """By name."""
        return [shown(name) for name in database.tables_of(self._connection)]

    def table(self, flag: str, text: str) -> Table:
        """By its name, in whatever case."""
        name, kind = database.relation_named(self._connection, flag, text)
        columns = [
            dataclasses.replace(
                column, reason=_UNKNOWN_COLLATION if collation_of(self._connection, name, column.name) is None else None
            )
            for column in database.columns_of(self._connection, name)
        ]
        return Table(name, quoted(name), shown(name), kind, rows.most_rows(self._connection, name), columns)

    def check_condition(self, table: Table, where: str) -> None:
        """Whether it can stand behind WHERE, and alone."""
        rows.check_condition(self._connection, table, where)

    def stream(self, table: Table, columns: Sequence[str], where: str | None) -> BinaryStream:
        """The rows in the order of their numbers."""
        read = [(name, collation_of(self._connection, table.name, name) or "") for name in columns]
        return BinaryStream(columns, _ENCODING, rows.batches(self._connection, table, read, where))
