"""A DuckDB database, read-only, whose tables come as streams of Arrow batches that the core reads as they are made.

The package `duckdb` is asked for where it is needed only. Before version 2 its streams were whole results in memory: of
a table of 20 million rows 1.4.4 kept 1.4 GB, 2.0.0 with 100 MB for its buffers 120 MB.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dbdyno.errors import DynoError
from dbdyno.ndv.databases import Column, Table
from dbdyno.ndv.naming import parts_of_name, quoted, shown

INSTALL = "pip install 'dbdyno[duckdb]'"
_STREAMS_SINCE = 2
_USUAL_SCHEMA = "main"
# Neither spills beside the database nor downloads; a scan's buffers are no more than this; texts of a batch may be more
# than 2 GB.
_CONFIG = {
    "memory_limit": "1GB",
    "temp_directory": "",
    "autoinstall_known_extensions": "false",
    "arrow_large_buffer_size": "true",
}

# How a column compares texts, by what it answers. Equal are: 'a' and 'A'; 'a' and an accented one; two spellings of one
# accented letter. By bytes nothing of that is, under NOCASE the first.
_COLLATION = (
    "SELECT x = 'A', x = chr(225), y = chr(101) || chr(769) FROM"
    " (SELECT {column} AS x, {column} AS y FROM {table} WHERE false UNION ALL SELECT 'a', chr(233))"
)
_BY_ANSWERS = {(False, False, False): "{}", (True, False, False): "lower({})"}
_UNKNOWN_COLLATION = "its collation takes texts for equal that are not so by their bytes; count a view of what it means"
# Arrow's form leaves the zone out, by which DuckDB tells them apart.
_AS_TEXT = "TIME WITH TIME ZONE"

_RELATIONS = (
    "SELECT schema_name, table_name, 'table', estimated_size FROM duckdb_tables()"
    " WHERE database_name = current_database() AND NOT internal UNION ALL"
    " SELECT schema_name, view_name, 'view', 0 FROM duckdb_views()"
    " WHERE database_name = current_database() AND NOT internal ORDER BY 4 DESC, 1, 2"
)
_COLUMNS = (
    "SELECT column_name, data_type FROM duckdb_columns() WHERE database_name = current_database()"
    " AND schema_name = ? AND table_name = ? ORDER BY column_index"
)
_CONSTRAINTS = (
    "SELECT constraint_type, constraint_column_names, referenced_table, referenced_column_names"
    " FROM duckdb_constraints() WHERE database_name = current_database() AND schema_name = ? AND table_name = ?"
)


@contextlib.contextmanager
def opened(path: Path) -> Iterator[DuckDbSession]:
    """The database, for reading.

    Raises:
        DynoError: `no_duckdb`, `database_unreadable`.
    """
    duckdb = _package()
    try:
        connection = duckdb.connect(str(path), read_only=True, config=_CONFIG)
    except duckdb.Error as error:
        raise _unreadable(path, error) from None
    try:
        yield DuckDbSession(duckdb, connection)
    except duckdb.Error as error:
        raise _unreadable(path, error) from None
    finally:
        connection.close()


class DuckDbSession:
    """See `databases.Session`."""

    def __init__(self, duckdb: Any, connection: Any) -> None:
        self._duckdb = duckdb
        self._connection = connection

    def tables(self) -> list[str]:
        """The largest first, then views."""
        return [_label(schema, name) for schema, name, _, _ in self._relations()]

    def table(self, flag: str, text: str) -> Table:
        """By `name` or `schema.name`, in whatever case."""
        name, *before = reversed(parts_of_name(flag, text))
        wanted = ((before[0] if before else _USUAL_SCHEMA).casefold(), name.casefold())
        known = self._relations()
        found = next((one for one in known if (one[0].casefold(), one[1].casefold()) == wanted), None)
        if found is None:
            names = ", ".join(self.tables()[:20])
            raise DynoError("unknown_table", f"{flag} {text}: no such table; there are {names or 'none'}")
        schema, name, kind, rows = found
        place = f"{quoted(schema)}.{quoted(name)}"
        return Table(name, place, _label(schema, name), kind, rows, self._columns(schema, name, place))

    def check_condition(self, table: Table, where: str) -> None:
        """Whether it can stand behind WHERE, and alone; nothing is executed."""
        advice = "write what could stand behind WHERE"
        for form in (f"(\n{where}\n)", f"CASE WHEN\n{where}\nTHEN true END"):
            statement = f"EXPLAIN SELECT 1 FROM {table.quoted} WHERE {form}"
            try:
                if len(self._connection.extract_statements(statement)) != 1:
                    raise DynoError("bad_where", f"--where {where}: is more than a condition; {advice}")
                self._connection.execute(statement).fetchall()
            except self._duckdb.Error as error:
                raise DynoError("bad_where", f"--where {where}: {_first_line(error)}; {advice}") from None

    def stream(self, table: Table, columns: Sequence[str], where: str | None) -> object:
        """A relation; DuckDB keeps the order of the rows."""
        types = {column.name: column.type for column in table.columns}
        items = ", ".join(f"{self._item(table.quoted, name, types[name])} AS {quoted(name)}" for name in columns)
        condition = "" if where is None else f" WHERE (\n{where}\n)"
        relation: object = self._connection.sql(f"SELECT {items} FROM {table.quoted}{condition}")
        return relation

    def _relations(self) -> list[tuple[str, str, str, int]]:
        return list(self._connection.execute(_RELATIONS).fetchall())

    def _columns(self, schema: str, name: str, place: str) -> list[Column]:
        constraints = self._connection.execute(_CONSTRAINTS, [schema, name]).fetchall()
        alone = [one for one in constraints if len(one[1]) == 1]
        unique = {names[0] for kind, names, _, _ in alone if kind in ("PRIMARY KEY", "UNIQUE")}
        references = {
            names[0]: f"{_label(schema, parent)}.{shown(columns[0])}"
            for kind, names, parent, columns in alone
            if kind == "FOREIGN KEY"
        }
        columns = self._connection.execute(_COLUMNS, [schema, name]).fetchall()
        reasons = {column: _UNKNOWN_COLLATION for column, type_ in columns if self._item(place, column, type_) is None}
        return [
            Column(column, type_.lower(), column in unique, references.get(column), reasons.get(column))
            for column, type_ in columns
        ]

    def _item(self, place: str, name: str, type_: str) -> str | None:
        """What stands for the column in a SELECT list; None where nothing would be equal where the column is."""
        column = quoted(name)
        if type_.upper() == _AS_TEXT:
            return f"CAST({column} AS VARCHAR)"
        if type_.upper() != "VARCHAR":
            return column
        (answers,) = self._connection.execute(_COLLATION.format(column=column, table=place)).fetchall()
        form = _BY_ANSWERS.get(answers)
        return None if form is None else form.format(column)


def _label(schema: str, name: str) -> str:
    return shown(name) if schema == _USUAL_SCHEMA else f"{shown(schema)}.{shown(name)}"


def _package() -> Any:
    try:
        duckdb = importlib.import_module("duckdb")
    except ImportError:
        message = f"a DuckDB database is read by the package duckdb, which is not here; {INSTALL}"
        raise DynoError("no_duckdb", message) from None
    if int(duckdb.__version__.partition(".")[0]) < _STREAMS_SINCE:
        message = f"duckdb {duckdb.__version__} would keep whole tables in memory; {INSTALL}"
        raise DynoError("no_duckdb", message)
    return duckdb


def _unreadable(path: Path, error: Exception) -> DynoError:
    return DynoError("database_unreadable", f"{path}: DuckDB cannot read it: {_first_line(error)}")


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
