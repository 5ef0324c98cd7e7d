"""The flags of `dbdyno ndv`, as what counts takes them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from dbdyno.errors import DynoError

ONE_TABLE = ("--columns", "--group", "--where", "--what-if", "--top-statements")
SERVER = ("--via", "--connections", "--what-if", "--top-statements")
TABLES = ("--table", "--where")
FILES = ("--delimiter", "--scheduler", "--workers")
ONE_PASS = ("--scheduler", "--workers")
CSV = ("--delimiter",)
COPY = "copy"


@dataclasses.dataclass(frozen=True, slots=True)
class Wish:
    """What to count, how, and which statements to plan with the fix; which flags make sense depends on the source."""

    tables: Sequence[str]
    columns: str | None
    groups: Sequence[str]
    where: str | None
    via: str
    connections: int
    precision: int
    what_if: Sequence[str]
    top: int
    delimiter: str | None
    scheduler: str | None
    workers: int | None
    export: Sequence[str]

    def refuse(self, flags: Sequence[str], why: str) -> None:
        """Say that the first of these flags that was given makes no sense. Raises `DynoError("flag_conflict")`."""
        given = {
            "--table": bool(self.tables),
            "--columns": self.columns is not None,
            "--group": bool(self.groups),
            "--where": self.where is not None,
            "--via": self.via != COPY,
            "--connections": self.connections > 1,
            "--what-if": bool(self.what_if),
            "--top-statements": self.top > 0,
            "--delimiter": self.delimiter is not None,
            "--scheduler": self.scheduler is not None,
            "--workers": self.workers is not None,
            "--export": bool(self.export),
        }
        for flag in flags:
            if given[flag]:
                raise DynoError("flag_conflict", f"{flag}: {why}; leave it out")
