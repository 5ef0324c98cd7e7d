"""A table's rows as batches of canonical columns."""

from __future__ import annotations

import itertools
import sqlite3
import sys
from collections.abc import Iterator, Sequence

from dbdyno.errors import DynoError
from dbdyno.ndv.binary_stream import BinaryColumn
from dbdyno.ndv.databases import Table
from dbdyno.ndv.naming import quoted
from dbdyno.ndv.sqlite.canonical import Value, canonical_column

# The encoding's name, which stands in the type of sketches.
ENCODING = "sqlite"
BATCH_ROWS = 16_384
# A value may have a GB: what is fetched at once is little, what is handed on no more than this and one fetch.
BATCH_BYTES = 16 << 20
_FETCHED_ROWS = 64


def check_condition(session: sqlite3.Connection, table: Table, where: str) -> None:
    """Refuse what is no condition on the table. Raises `DynoError("bad_where")`."""
    for form in (f"(\n{where}\n)", f"CASE WHEN\n{where}\nTHEN 1 END"):
        try:
            session.execute(f"EXPLAIN SELECT 1 FROM {table.quoted} WHERE {form}")
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise DynoError("bad_where", f"--where {where}: {error}; write what could stand behind WHERE") from None


def most_rows(session: sqlite3.Connection, table: str) -> int:
    """How many rows there are at most, without reading them: the largest number of one; 0 where rows have none."""
    try:
        (found,) = session.execute(f"SELECT max(_rowid_) FROM {quoted(table)}").fetchone()
    except sqlite3.Error:  # a view, or WITHOUT ROWID
        return 0
    return found if isinstance(found, int) and found > 0 else 0


def batches(
    session: sqlite3.Connection, table: Table, columns: Sequence[tuple[str, str]], where: str | None
) -> Iterator[list[BinaryColumn]]:
    """In the order in which the rows lie.

    Args:
        columns: names, with their collations.
        where: a condition that was checked.
    """
    names = ", ".join(quoted(name) for name, _ in columns)
    # By an index that has all columns rows would come in the index's order.
    source = table.quoted + ("" if table.kind == "view" else " NOT INDEXED")
    condition = "" if where is None else f" WHERE (\n{where}\n)"
    cursor = session.execute(f"SELECT {names} FROM {source}{condition}")
    while rows := _next_rows(cursor):
        yield [
            canonical_column(values, collation)
            for values, (_, collation) in zip(zip(*rows, strict=True), columns, strict=True)
        ]


def _next_rows(cursor: sqlite3.Cursor) -> list[tuple[Value, ...]]:
    """As many as a batch may have."""
    rows: list[tuple[Value, ...]] = []
    size = 0
    while len(rows) < BATCH_ROWS and size < BATCH_BYTES:
        fetched = cursor.fetchmany(_FETCHED_ROWS)
        if not fetched:
            break
        rows += fetched
        size += sum(map(sys.getsizeof, itertools.chain.from_iterable(fetched)))
    return rows
