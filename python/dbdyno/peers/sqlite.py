"""SQLite, of Python's own library, on a file that holds the tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

from dbdyno.peers.peer import first_row


class Sqlite:
    """One connection, which reads only."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self._statement = spec["statement"]
        self._names = list(spec["settings"])
        self._connection = sqlite3.connect(f"file:{spec['path']}?mode=ro", uri=True, isolation_level=None)
        for name, value in spec["settings"].items():
            self._connection.execute(f"PRAGMA {name} = {value}")
        self._connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()  # opens the file

    version = sqlite3.sqlite_version

    def settings(self) -> dict[str, str]:
        """As the PRAGMA of that name has them."""
        rows = {name: self._connection.execute(f"PRAGMA {name}").fetchone() for name in self._names}
        return {name: str(row[0]) for name, row in rows.items() if row}

    def row(self) -> dict[str, Any]:
        """Executes the statement."""
        found = self._connection.execute(self._statement)
        return first_row([column[0] for column in found.description or ()], found.fetchall())
