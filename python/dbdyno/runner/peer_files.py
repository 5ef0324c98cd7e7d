"""The tables of a run as files of DuckDB and SQLite: the same rows, read from the server once, before the first trial.

They lie beside the server's data, in the directory of its instance, and go with it: at the end of the run, or, where
that was killed, at the next start.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from psycopg import sql

from dbdyno.design.experiment import Experiment
from dbdyno.errors import DynoError
from dbdyno.runner.peer_process import ask, started
from dbdyno.targets.statements import failing_as_run_failure
from dbdyno.targets.target import Target

# Of the server, of DuckDB, of SQLite; others would not be the same values everywhere.
TYPES = {
    "int2": ("SMALLINT", "INTEGER"),
    "int4": ("INTEGER", "INTEGER"),
    "int8": ("BIGINT", "INTEGER"),
    "float8": ("DOUBLE", "REAL"),
    "text": ("VARCHAR", "TEXT"),
    "varchar": ("VARCHAR", "TEXT"),
}
DUCKDB, SQLITE = "duckdb", "sqlite"


@dataclasses.dataclass(frozen=True, slots=True)
class _Table:
    name: str
    columns: Mapping[str, str]  # to the server's types


def obstacle(engine: str, target: Target) -> str | None:
    """Why `engine` cannot do work beside this target; None if it can."""
    if engine not in (DUCKDB, SQLITE):
        return None
    if not target.owned:
        return f"has {engine} work on a copy of the tables beside the server's data, which needs an embedded server"
    if engine == DUCKDB and importlib.util.find_spec("duckdb") is None:
        return "needs the package duckdb; pip install 'dbdyno[duckdb]'"
    return None


@contextmanager
def peer_files(experiment: Experiment, target: Target, say: Callable[[str], None]) -> Iterator[Mapping[str, Path]]:
    """By engine, the file with all tables; nothing where no arm needs one."""
    wanted = dict.fromkeys(arm.engine for arm in experiment.arms)
    engines = [engine for engine in (DUCKDB, SQLITE) if engine in wanted and obstacle(engine, target) is None]
    if not engines:
        yield {}
        return
    directory = target.data_directory
    assert directory is not None  # or there was an obstacle
    tables = _tables(target)
    files = {engine: directory / f"peer.{engine}" for engine in engines}
    try:
        for engine, path in files.items():
            say(f"copying the tables into {engine}")
            (_fill_duckdb if engine == DUCKDB else _fill_sqlite)(target, tables, path)
        yield files
    finally:
        for path in files.values():
            path.unlink(missing_ok=True)


def _tables(target: Target) -> list[_Table]:
    """The ordinary tables of our schema."""
    with target.connect() as connection:
        rows = connection.execute(
            "SELECT c.relname, a.attname, t.typname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid"
            " JOIN pg_type AS t ON t.oid = a.atttypid WHERE c.relnamespace = to_regnamespace(current_schema())"
            " AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY c.relname, a.attnum"
        ).fetchall()
    tables: dict[str, dict[str, str]] = {}
    for table, column, kind in rows:
        if kind not in TYPES:
            known = ", ".join(TYPES)
            raise DynoError("engine_type", f"engine: {table}.{column} is of type {kind}; use one of {known}")
        tables.setdefault(table, {})[column] = kind
    return [_Table(name, columns) for name, columns in tables.items()]


def _fill_duckdb(target: Target, tables: Sequence[_Table], path: Path) -> None:
    """In a process of its own; each table by a pipe of CSV, in which a null is the only value without quotes."""
    pipes = [os.pipe() for _ in tables]
    spec = {
        "engine": DUCKDB,
        "path": str(path),
        "load": [
            {"table": table.name, "columns": {name: TYPES[kind][0] for name, kind in table.columns.items()}, "fd": fd}
            for table, (fd, _) in zip(tables, pipes, strict=True)
        ],
    }
    with started([fd for fd, _ in pipes]) as process:
        for reading, _ in pipes:
            os.close(reading)
        rows = [_copy_statement(table, sql.SQL("FORMAT csv, FORCE_QUOTE *")) for table in tables]
        sender = threading.Thread(target=_send, args=(target, rows, [fd for _, fd in pipes]))
        sender.start()
        try:
            ask(DUCKDB, process, json.dumps(spec))
        finally:
            process.kill()  # ends the sender, too, where it is not done
            sender.join()


def _send(target: Target, statements: Sequence[sql.Composed], pipes: Sequence[int]) -> None:
    """The rows into the pipes; a reader that has gone has said why by itself."""
    with target.connect() as connection:
        for statement, writing in zip(statements, pipes, strict=True):
            with (
                suppress(BrokenPipeError),
                os.fdopen(writing, "wb") as pipe,
                connection.cursor() as cursor,
                cursor.copy(statement) as rows,
            ):
                for chunk in rows:
                    pipe.write(chunk)


def _fill_sqlite(target: Target, tables: Sequence[_Table], path: Path) -> None:
    """Without a journal: a file that is not whole when a run ends is deleted with it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as file, target.connect() as connection:
        file.execute("PRAGMA journal_mode = OFF")
        file.execute("PRAGMA synchronous = OFF")
        for table in tables:
            columns = {name: TYPES[kind][1] for name, kind in table.columns.items()}
            file.execute(f"CREATE TABLE {_quoted(table.name)} ({_declared(columns)})")
            insert = f"INSERT INTO {_quoted(table.name)} VALUES ({', '.join('?' for _ in columns)})"
            statement = _copy_statement(table, sql.SQL("FORMAT binary"))
            with failing_as_run_failure("COPY"), connection.cursor() as cursor, cursor.copy(statement) as rows:
                rows.set_types(list(table.columns.values()))
                file.execute("BEGIN")
                file.executemany(insert, rows.rows())
                file.execute("COMMIT")


def _copy_statement(table: _Table, options: sql.SQL) -> sql.Composed:
    columns = sql.SQL(", ").join(map(sql.Identifier, table.columns))
    return sql.SQL("COPY {} ({}) TO STDOUT ({})").format(sql.Identifier(table.name), columns, options)


def _declared(columns: Mapping[str, str]) -> str:
    return ", ".join(f"{_quoted(name)} {kind}" for name, kind in columns.items())


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
