"""A SQLite file, opened for reading, and what it says of its tables.

A database in WAL mode makes its readers share memory through files beside it, and they stay when a reader who may not
write leaves ("Write-Ahead Logging", section 5). Where there are none, nobody has it open: it is opened as one that
does not change (`immutable=1`), and afterwards it is looked at whether that was so.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from dbdyno.errors import EXIT_RUN_FAILED, DynoError
from dbdyno.ndv.databases import Column
from dbdyno.ndv.naming import quoted, shown
from dbdyno.ndv.sqlite.canonical import TEXT_FACTORY

# "The SQLite database file format", 1.3.4: 2 stands for WAL.
_READ_VERSION_PLACE, _WAL = 19, 2
_TABLES = (
    "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND substr(name, 1, 7) <> 'sqlite_' ORDER BY name"
)


@contextlib.contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """The database, for reading; texts come as `canonical` takes them.

    Raises:
        DynoError: `database_unreadable`; `source_changed` where somebody wrote meanwhile and it was not safe to read.
    """
    before = _state(path)
    alone = _is_in_wal_mode(path) and not _wal(path).exists()
    uri = f"{path.resolve().as_uri()}?mode=ro{'&immutable=1' if alone else ''}"
    try:
        # The core asks for rows from a thread of its own, one at a time.
        session = sqlite3.connect(uri, uri=True, check_same_thread=False, isolation_level=None)
    except sqlite3.Error as error:
        raise _unreadable(path, error) from None
    session.text_factory = TEXT_FACTORY
    try:
        session.execute("PRAGMA query_only = on")
        session.execute("SELECT count(*) FROM sqlite_master").fetchone()
        yield session
    except sqlite3.Error as error:
        raise _unreadable(path, error) from None
    finally:
        session.close()
    if alone and (_wal(path).exists() or _state(path) != before):
        raise DynoError(
            "source_changed", f"{path}: was written while it was read; count again", exit_code=EXIT_RUN_FAILED
        )


def tables_of(session: sqlite3.Connection) -> list[str]:
    """Names of tables and views, but for SQLite's own."""
    statement = (
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    )
    return [_text(name) for (name,) in session.execute(f"{statement} ORDER BY name")]


def relation_named(session: sqlite3.Connection, flag: str, name: str) -> tuple[str, str]:
    """Name and kind of the table or view that `name` means, in whatever case. Raises `DynoError("unknown_table")`."""
    found = session.execute(
        "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') AND name = ? COLLATE NOCASE", [name]
    ).fetchone()
    if found is None:
        known = ", ".join(tables_of(session)[:20])
        raise DynoError("unknown_table", f"{flag} {name}: no such table; there are {known or 'none'}")
    return _text(found[0]), _text(found[1])


def columns_of(session: sqlite3.Connection, table: str) -> list[Column]:
    """In their order, with what a constraint says of each alone; `reason` is left to others."""
    # Hidden columns of virtual tables (1) are arguments; generated ones (2, 3) are columns.
    described = [
        (_text(column), _text(type_), key)
        for _, column, type_, _, _, key, hidden in session.execute(f"PRAGMA table_xinfo({quoted(table)})")
        if hidden != 1
    ]
    unique = _unique(session, table) | _key(described)
    references = _references(session, table)
    return [
        Column(column, type_.lower() or "any", column in unique, references.get(column), None)
        for column, type_, _ in described
    ]


def _key(described: list[tuple[str, str, int]]) -> set[str]:
    """A primary key of one column."""
    keys = [column for column, _, key in described if key]
    return set(keys) if len(keys) == 1 else set()


def _unique(session: sqlite3.Connection, table: str) -> set[str]:
    """Columns with a unique index of their own, over all rows."""
    found = set()
    for _, index, unique, _, partial in session.execute(f"PRAGMA index_list({quoted(table)})").fetchall():
        if unique and not partial:
            columns = session.execute(f"PRAGMA index_info({quoted(_text(index))})").fetchall()
            if len(columns) == 1 and columns[0][2] is not None:
                found.add(_text(columns[0][2]))
    return found


def _references(session: sqlite3.Connection, table: str) -> dict[str, str]:
    """Of foreign keys of one column; where the other table's column is not named, it is its primary key."""
    rows = session.execute(f"PRAGMA foreign_key_list({quoted(table)})").fetchall()
    numbers = [row[0] for row in rows]
    found = {}
    for number, _, parent, child, column, *_ in rows:
        described = session.execute(f"PRAGMA table_xinfo({quoted(_text(parent))})").fetchall()
        columns = [(_text(name), key) for _, name, _, _, _, key, _ in described]
        named = None if column is None else _text(column).lower()
        referred = next((name for name, key in columns if (key if named is None else name.lower() == named)), None)
        if numbers.count(number) == 1 and referred is not None:
            # A constraint may write the names in another case.
            actual = session.execute("SELECT name FROM sqlite_master WHERE name = ? COLLATE NOCASE", [_text(parent)])
            found[_text(child)] = f"{shown(_text(actual.fetchone()[0]))}.{shown(referred)}"
    return found


def _text(value: bytearray) -> str:
    return value.decode(errors="replace")


def _wal(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _is_in_wal_mode(path: Path) -> bool:
    with path.open("rb") as file:
        header = file.read(_READ_VERSION_PLACE + 1)
    return len(header) > _READ_VERSION_PLACE and header[_READ_VERSION_PLACE] == _WAL


def _state(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns


def _unreadable(path: Path, error: sqlite3.Error) -> DynoError:
    return DynoError("database_unreadable", f"{path}: SQLite cannot read it: {error}; check the file")
