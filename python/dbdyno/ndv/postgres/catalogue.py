"""All that the server knows of a relation and its columns before a row is read.

```
relation     which relation it is, how large, of which kind
columns      types and their equality, constraints, indexes, options
statistics   pg_stats, extended statistics, the planner's settings
catalogue    these together, as objects and as one plain document for the analysis
```
"""

from __future__ import annotations

import dataclasses
from typing import Any

from dbdyno.ndv.postgres.columns import Column, read_columns
from dbdyno.ndv.postgres.relation import Relation, find_relation, read_relation
from dbdyno.ndv.postgres.statistics import (
    ColumnStatistics,
    ExtendedStatistics,
    PlannerSettings,
    read_extended,
    read_settings,
    read_statistics,
)
from dbdyno.targets.target import Connection


@dataclasses.dataclass(frozen=True, slots=True)
class Catalogue:
    """One relation, as the server describes it."""

    server_version: int
    relation: Relation
    columns: list[Column]
    statistics: list[ColumnStatistics]
    extended: list[ExtendedStatistics]
    settings: PlannerSettings

    def column(self, name: str) -> Column:
        """The column of that very name."""
        return next(column for column in self.columns if column.name == name)

    def document(self) -> dict[str, Any]:
        """The same as `analysis.ndv` takes it: plain dictionaries that JSON can hold."""
        return dataclasses.asdict(self)


def read_catalogue(session: Connection, flag: str, table: str) -> Catalogue:
    """Find the relation that `table` names, and read about it.

    Args:
        session: of `session.connect`, in autocommit.
        flag: what a message calls the name by, e.g. `--table`.
        table: as the user wrote it.

    Raises:
        DynoError: there is no such table, or it may not be read as a whole.
    """
    oid = find_relation(session, flag, table)
    # From here on a name means the system's own: an account with many rights must not call what lies in `public`.
    path = session.execute("SELECT pg_catalog.current_setting('search_path')").fetchone()
    session.execute("SET search_path = pg_catalog")
    try:
        relation = read_relation(session, oid)
        columns = read_columns(session, relation)
        return Catalogue(
            session.info.server_version,
            relation,
            columns,
            read_statistics(session, relation),
            read_extended(session, relation),
            read_settings(session),
        )
    finally:
        session.execute("SELECT pg_catalog.set_config('search_path', %s, false)", path)
