"""Canonical forms of SQLite's values against SQLite's own COUNT(DISTINCT), and what it says of its tables."""

from __future__ import annotations

import itertools
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dbdyno.errors import DynoError
from dbdyno.ndv.binary_stream import BinaryColumn
from dbdyno.ndv.sqlite.canonical import TEXT_FACTORY, canonical_column
from dbdyno.ndv.sqlite.collation import collation_of
from dbdyno.ndv.sqlite.database import opened
from dbdyno.ndv.sqlite.rows import BATCH_ROWS, batches
from dbdyno.ndv.sqlite.session import SqliteSession

NEAR = [0, 1, -1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)]
NUMBERS = st.sampled_from(
    [*NEAR, *map(float, NEAR), -0.0, 0.5, 2.0**63, -(2.0**63), 1e300, float("inf"), -float("inf")]
)
TEXTS = st.text(st.sampled_from("aAbBäÄß \t\0é1"), max_size=4)
VALUES = st.one_of(NUMBERS, st.floats(allow_nan=True), st.integers(-(2**63), 2**63 - 1), TEXTS, st.binary(max_size=3))


def values_of(column: BinaryColumn) -> list[bytes | None]:
    """What the core would hash."""
    ends = column.offsets.tolist()
    found = [column.data[start:end] for start, end in itertools.pairwise(ends)]
    return [value if column.valid is None or column.valid[place] else None for place, value in enumerate(found)]


@pytest.mark.parametrize("collation", ["BINARY", "NOCASE", "RTRIM"])
@pytest.mark.parametrize("declared", ["", "TEXT", "NUMERIC", "REAL", "INTEGER", "BLOB"])
@settings(max_examples=25, deadline=None)
@given(values=st.lists(st.one_of(st.none(), VALUES), min_size=1, max_size=30))
@example(values=[1, 1.0, "1", b"1", "1.0", None, True])
@example(values=["x\0b", "x\0c", "X\0b", "x\0bb", "x1", "x\x001"])
@example(values=["a", "A", "a ", "a\t", "a \0", "ä", "Ä", b"a", ""])
def test_equal_where_sqlite_says_so(values: list[Any], declared: str, collation: str) -> None:
    """As many different forms as COUNT(DISTINCT) says, in a column of any affinity, under each collation."""
    session = sqlite3.connect(":memory:")
    session.text_factory = TEXT_FACTORY
    session.execute(f"CREATE TABLE t (v {declared} COLLATE {collation})")
    session.executemany("INSERT INTO t VALUES (?)", [(value,) for value in values])

    assert collation_of(session, "t", "v") == collation
    table = SqliteSession(session).table("--table", "t")
    (batch,) = batches(session, table, [("v", collation)], None)
    found = values_of(batch[0])

    wanted = session.execute("SELECT count(DISTINCT v), count(*) - count(v) FROM t").fetchone()
    assert (len({value for value in found if value is not None}), found.count(None)) == wanted
    session.close()


def test_integers_take_the_short_way_to_the_same_bytes() -> None:
    """A column of integers alone, and the same values beside a text."""
    integers = [0, 7, -1, None, 2**63 - 1, -(2**63)]

    alone = values_of(canonical_column(integers, "BINARY"))

    assert alone == values_of(canonical_column([*integers, bytearray(b"x")], "BINARY"))[:-1]
    assert alone[3] is None


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Tables that refer to each other, a view, one without row numbers, a collation of an application."""
    path = tmp_path / "shop.sqlite"
    session = sqlite3.connect(path)
    session.create_collation("MINE", lambda one, other: (one > other) - (one < other))
    session.executescript(
        """
        CREATE TABLE Customers (id INTEGER PRIMARY KEY, email TEXT UNIQUE COLLATE NOCASE, note);
        CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id REFERENCES customers,
                             "Weird ""name" TEXT COLLATE RTRIM, a, b, mine TEXT COLLATE MINE, doubled AS (a * 2),
                             FOREIGN KEY (a, b) REFERENCES pairs (x, y));
        CREATE INDEX covering ON orders (a, b);
        CREATE TABLE pairs (x, y, PRIMARY KEY (x, y)) WITHOUT ROWID;
        CREATE VIEW emails AS SELECT email, upper(email) AS big FROM customers;
        INSERT INTO orders (id, customer_id, a, b) VALUES (1, 1, 3, 1), (2, 1, 2, 1), (5, 2, 1, 1);
        """
    )
    session.close()
    return path


def test_what_a_table_says(database: Path) -> None:
    """Types, keys, references by their actual names, collations; a view has them, too."""
    with opened(database) as session:
        ours = SqliteSession(session)
        orders, customers = (ours.table("--table", name) for name in ("ORDERS", "customers"))
        collations = [collation_of(session, orders.name, column.name) for column in orders.columns]
        emails = [collation_of(session, "emails", column) for column in ("email", "big")]
        names = ours.tables()
        rows = [ours.table("--table", name).rows for name in ("orders", "pairs", "emails")]

    assert [(column.name, column.type, column.unique, column.refers_to) for column in orders.columns] == [
        ("id", "integer", True, None),
        ("customer_id", "any", False, "Customers.id"),
        ('Weird "name', "text", False, None),
        ("a", "any", False, None),
        ("b", "any", False, None),
        ("mine", "text", False, None),
        ("doubled", "any", False, None),
    ]
    assert [column.name for column in orders.columns if column.reason] == ["mine"]
    assert collations == ["BINARY", "BINARY", "RTRIM", "BINARY", "BINARY", None, "BINARY"]
    assert [column.unique for column in customers.columns] == [True, True, False]
    assert (emails, names) == (["NOCASE", "BINARY"], ["Customers", "emails", "orders", "pairs"])
    assert rows == [5, 0, 0]  # the largest number of a row, which may be more than there are


def test_rows_come_as_they_lie_and_in_batches(database: Path) -> None:
    """Not in the order of an index that has all columns; a batch has so many rows, or bytes."""
    with opened(database) as session:
        orders = SqliteSession(session).table("--table", "orders")
        (batch,) = batches(session, orders, [("a", "BINARY")], "b = 1 -- all")
    writing = sqlite3.connect(database)
    writing.executemany("INSERT INTO pairs VALUES (?, 0)", [(number,) for number in range(BATCH_ROWS + 1)])
    writing.commit()
    writing.close()
    with opened(database) as session:
        pairs = SqliteSession(session).table("--table", "pairs")
        lengths = [len(columns[0].offsets) - 1 for columns in batches(session, pairs, [("x", "BINARY")], None)]

    large = sqlite3.connect(":memory:")
    large.text_factory = TEXT_FACTORY
    large.execute("CREATE TABLE t AS SELECT zeroblob(1000000) AS v FROM (VALUES (1), (2), (3)) a, (VALUES (1), (2)) b")
    large.execute("INSERT INTO t SELECT a.v FROM t AS a, t AS b, t AS c LIMIT 150")
    table = SqliteSession(large).table("--table", "t")
    sizes = [len(columns[0].data) for columns in batches(large, table, [("v", "BINARY")], None)]
    large.close()

    assert sizes == [64_000_064, 64_000_064, 28_000_028]
    assert [value[1] for value in values_of(batch[0]) if value] == [3, 2, 1]
    assert lengths == [BATCH_ROWS, 1]


@pytest.mark.parametrize("where", ["id <", "1) OR (1", "1; DELETE FROM orders", "nope = 1"])
def test_what_is_no_condition_is_refused(database: Path, where: str) -> None:
    """Before anything is read."""
    with opened(database) as session:
        ours = SqliteSession(session)
        table = ours.table("--table", "orders")
        with pytest.raises(DynoError, match=r"--where .*; write what could stand behind WHERE") as told:
            ours.check_condition(table, where)

    assert told.value.code == "bad_where"


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_nothing_is_written_beside_a_database(database: Path, journal: str) -> None:
    """Readers of a WAL database leave two files there; this one does not, and cannot write either."""
    writing = sqlite3.connect(database)
    writing.execute(f"PRAGMA journal_mode = {journal}")
    writing.close()
    before = [(path.name, path.read_bytes()) for path in sorted(database.parent.iterdir())]

    with opened(database) as session:
        assert session.execute("SELECT count(*) FROM orders").fetchone() == (3,)
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            session.execute("DELETE FROM orders")

    assert [(path.name, path.read_bytes()) for path in sorted(database.parent.iterdir())] == before


def test_a_database_that_was_written_meanwhile(database: Path) -> None:
    """Where it was opened as one that does not change, that it did is an error; one in use is read safely."""
    writing = sqlite3.connect(database, isolation_level=None)
    writing.execute("PRAGMA journal_mode = wal")
    writing.close()

    def write_meanwhile() -> None:
        with opened(database) as session:
            session.execute("SELECT count(*) FROM orders").fetchone()
            writing = sqlite3.connect(database, isolation_level=None)
            writing.execute("INSERT INTO orders (id) VALUES (NULL)")
            writing.close()

    with pytest.raises(DynoError, match=r"shop\.sqlite: was written while it was read; count again") as told:
        write_meanwhile()
    assert (told.value.code, told.value.exit_code) == ("source_changed", 1)
    writing = sqlite3.connect(database, isolation_level=None)
    writing.execute("INSERT INTO orders (id) VALUES (NULL)")
    write_meanwhile()
    writing.close()


def test_what_is_no_database(tmp_path: Path) -> None:
    """One line with the file's name."""
    path = tmp_path / "damaged.sqlite"
    path.write_bytes(b"SQLite format 3\0" + bytes(100))

    with pytest.raises(DynoError, match=r"damaged\.sqlite: SQLite cannot read it: ") as told, opened(path):
        pass

    assert told.value.code == "database_unreadable"
