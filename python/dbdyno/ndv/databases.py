"""What a database in a file is asked, whichever engine it is of: its tables, and the rows of one as a stream."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from dbdyno.ndv.sources import DUCKDB, Database


@dataclasses.dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        type: as it was declared.
        unique: whether a constraint says so of the column alone.
        refers_to: `table.column` as people write it, where a foreign key says so.
        reason: why it cannot be counted; None where it can.
    """

    name: str
    type: str
    unique: bool
    refers_to: str | None
    reason: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class Table:
    """A table or a view.

    Attributes:
        name: of it alone.
        quoted: as SQL of the engine writes it.
        label: as people write it.
        kind: `table` or `view`.
        rows: how many the engine believes there are, without looking; 0 where it does not know.
    """

    name: str
    quoted: str
    label: str
    kind: str
    rows: int
    columns: Sequence[Column]


class Session(Protocol):
    """A database, open for reading."""

    def tables(self) -> list[str]:
        """Labels of tables and views."""

    def table(self, flag: str, text: str) -> Table:
        """The one that `text` names. Raises `DynoError`: `bad_names`, `unknown_table`."""

    def check_condition(self, table: Table, where: str) -> None:
        """Refuse what is no condition on the table. Raises `DynoError("bad_where")`."""

    def stream(self, table: Table, columns: Sequence[str], where: str | None) -> object:
        """The rows in the order in which they lie: an object with `__arrow_c_stream__`, alive until it is read."""


def opened(database: Database) -> AbstractContextManager[Session]:
    """The database, for reading; nothing is written, neither into it nor beside it.

    Raises:
        DynoError: `no_duckdb`, `database_unreadable`, `source_changed`.
    """
    if database.engine == DUCKDB:
        from dbdyno.ndv import duckdb_session

        return duckdb_session.opened(Path(database.path))
    from dbdyno.ndv.sqlite import session

    return session.opened(Path(database.path))
