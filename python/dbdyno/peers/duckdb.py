"""DuckDB on a file that holds the tables (package `duckdb`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb

from dbdyno.peers.peer import first_row


def load(path: str, tables: Sequence[Mapping[str, Any]]) -> None:
    """A file with these tables: name, columns with their types, and the descriptor from which their CSV comes."""
    with duckdb.connect(path) as file:
        for table in tables:
            columns = ", ".join(f'"{name}" {kind}' for name, kind in table["columns"].items())
            file.execute(f'CREATE TABLE "{table["table"]}" ({columns})')
            file.execute(
                f"COPY \"{table['table']}\" FROM '/dev/fd/{table['fd']}' (FORMAT csv, HEADER false, QUOTE '\"',"
                " ESCAPE '\"', DELIMITER ',', NULLSTR '', ALLOW_QUOTED_NULLS false, AUTO_DETECT false)"
            )
        file.execute("CHECKPOINT")


class DuckDb:
    """One connection, which reads only."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self._statement = spec["statement"]
        self._names = list(spec["settings"])
        self._connection = duckdb.connect(spec["path"], read_only=True)
        for name, value in spec["settings"].items():
            self._connection.execute(f"SET {name} = '{value}'")

    version = duckdb.__version__

    def settings(self) -> dict[str, str]:
        """As `current_setting` has them."""
        return {name: str(self._one(f"SELECT current_setting('{name}')")) for name in self._names}

    def row(self) -> dict[str, Any]:
        """Executes the statement."""
        found = self._connection.execute(self._statement)
        return first_row([column[0] for column in found.description or ()], found.fetchall())

    def _one(self, query: str) -> Any:
        row = self._connection.execute(query).fetchone()
        return row[0] if row else None
