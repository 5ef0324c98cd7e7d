"""What a server says that one user asked of it: from its log every statement with its values, in order; from
`pg_stat_statements` how often each query ran and how many rows it gave or changed."""

from __future__ import annotations

import json
import re
import time
import uuid
from dataclasses import dataclass

from dbdyno.targets.embedded import EmbeddedServer

_SETTINGS = {
    "shared_preload_libraries": "pg_stat_statements",
    "logging_collector": "on",
    "log_destination": "jsonlog",
    "log_directory": "log",
    "log_filename": "asked.log",
    "log_statement": "all",
}

Asked = tuple[str, str]
"""A statement's text, and its parameters as the server shows them."""


@dataclass(frozen=True)
class Heard:
    """What was asked between `begin` and `end`."""

    asked: list[Asked]
    calls_and_rows: dict[str, tuple[int, int]]


class Witness:
    """Watches one user of a server, which is restarted for it."""

    def __init__(self, server: EmbeddedServer, user: str) -> None:
        self._server = server
        self._user = user
        self._log = server.data_directory / "cluster" / "log" / "asked.json"
        self._begins = 0
        for name, value in _SETTINGS.items():
            server.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        server.restart()
        server.execute("CREATE EXTENSION pg_stat_statements")

    def begin(self) -> None:
        """Forget what was asked before."""
        self._server.execute("SELECT pg_stat_statements_reset()")
        self._read_log()
        self._begins = self._log.stat().st_size

    def end(self) -> Heard:
        """What was asked since."""
        entries = [json.loads(line) for line in self._read_log().splitlines()]
        asked = [
            (match[1].rstrip(), entry.get("detail", ""))
            for entry in entries
            if entry.get("user") == self._user
            if (match := re.match(r"(?:statement|execute [^:]+): (.*)", entry["message"], re.DOTALL))
        ]
        return Heard(asked, self._statistics())

    def _read_log(self) -> str:
        """The log from where we began, up to a mark that we leave in it: it is written a moment later."""
        mark = f"mark-{uuid.uuid4()}"
        self._server.execute(f"SELECT '{mark}'")
        limit = time.monotonic() + 10
        while time.monotonic() < limit:
            with self._log.open("rb") as file:
                file.seek(self._begins)
                written = file.read().decode()
            if mark in written and written.endswith("\n"):
                return written
            time.sleep(0.002)
        raise AssertionError(f"{self._log} does not show what was asked")

    def _statistics(self) -> dict[str, tuple[int, int]]:
        """By text: a temporary table of the same name is another query to the server in each session."""
        with self._server.connect() as session:
            rows = session.execute(
                "SELECT query, sum(calls), sum(rows) FROM pg_stat_statements "
                "WHERE userid = %s::regrole AND toplevel GROUP BY query",
                [self._user],
            )
            return {query: (int(calls), int(count)) for query, calls, count in rows}
