"""What a scan reads, whether its rows come to us or stay on the server: which relation, which columns, which rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from dbdyno.errors import DynoError
from dbdyno.ndv.naming import column_named
from dbdyno.ndv.postgres.catalogue import Catalogue
from dbdyno.ndv.postgres.columns import Column
from dbdyno.ndv.postgres.server_hash import can_hash

# What queries call the relation; a user's condition may use the name.
ALIAS = "r"

# A scan may take hours; but it does not wait for a lock, and other sessions' limits on idle ones are not for it.
_LIMITS = (
    "SET LOCAL statement_timeout = 0",
    "SET LOCAL lock_timeout = '2s'",
    "SET LOCAL idle_in_transaction_session_timeout = 0",
    "SET LOCAL jit = off",
)
_TRANSACTION_TIMEOUT_SINCE = 170000
# Rows that a policy would hide are an error, not a smaller count.
_ROW_SECURITY = "SET LOCAL row_security = off"
# Names in our own statements are the system's; a user's condition, or a view, may need the user's path.
_PATH = "SET LOCAL search_path = pg_catalog"
# Rows in the order in which they lie: from the first page on, by one process, by no index.
_PHYSICAL_ORDER = (
    "SET LOCAL synchronize_seqscans = off",
    "SET LOCAL max_parallel_workers_per_gather = 0",
    "SET LOCAL enable_indexscan = off",
    "SET LOCAL enable_indexonlyscan = off",
)


@dataclasses.dataclass(frozen=True, slots=True)
class Source:
    """What to read.

    Attributes:
        columns: those that can be counted, in the order of the table.
        groups: groups of them.
        where: a condition in SQL, of the user's own; None for all rows.
        left_out: (column, why) of those that were not asked for by name and cannot be counted.
    """

    catalogue: Catalogue
    columns: Sequence[Column]
    groups: Sequence[Sequence[Column]]
    where: str | None
    left_out: Sequence[tuple[Column, str]]

    @property
    def whole(self) -> bool:
        """Whether all rows are read, so that the planner's figures are about the same."""
        return self.where is None

    @property
    def in_order(self) -> bool:
        """Whether rows come as they lie in the pages: of a table, however its rows are chosen."""
        return self.catalogue.relation.kind not in ("view", "foreign table")

    def document(self, via: str) -> dict[str, Any]:
        """What is read, as `analysis.ndv` takes it; `via` is `copy` or `sql`, and by SQL rows come in no order."""
        return {
            "via": via,
            "where": self.where,
            "in_order": self.in_order and via == "copy",
            "groups": [[column.name for column in group] for group in self.groups],
            "not_counted": [
                {"column": column.name, "type": column.type, "reason": reason} for column, reason in self.left_out
            ],
        }

    def begin(self, *, in_order: bool) -> list[str]:
        """The statements that open a transaction for it, after which nothing can be written."""
        relation, version = self.catalogue.relation, self.catalogue.server_version
        own_path = self.where is not None or relation.kind == "view"
        return [
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
            *_LIMITS,
            *(["SET LOCAL transaction_timeout = 0"] if version >= _TRANSACTION_TIMEOUT_SINCE else []),
            _ROW_SECURITY,
            *([] if own_path else [_PATH]),
            *(_PHYSICAL_ORDER if in_order and self.in_order else []),
        ]

    def from_where(self, condition: str | None = None) -> str:
        """FROM and WHERE, with a condition of ours beside the user's."""
        # Its own lines: a comment at the end of the user's condition ends there.
        conditions = [one for one in (f"(\n{self.where}\n)" if self.where is not None else None, condition) if one]
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        return f"FROM {self.catalogue.relation.quoted} AS {ALIAS}{where}"


def plan_source(
    catalogue: Catalogue,
    columns: Sequence[str] | None = None,
    groups: Sequence[Sequence[str]] = (),
    where: str | None = None,
) -> Source:
    """Choose what is read.

    Args:
        catalogue: of the relation.
        columns: names as the user wrote them; None for all that can be counted.
        groups: likewise; a group's columns need not be among `columns`.
        where: a condition; checked by the server when it is used.

    Raises:
        DynoError: `unknown_column`, `no_equality`, `no_hash`, `permission_denied`, `bad_group`, `nothing_to_count`.
    """
    names = [column.name for column in catalogue.columns]
    by_name = {column.name: column for column in catalogue.columns}
    asked = None if columns is None else [by_name[column_named("--columns", name, names)] for name in columns]
    grouped = [[by_name[column_named("--group", name, names)] for name in group] for group in groups]
    for flag, named in (("--columns", asked or []), *(("--group", group) for group in grouped)):
        for column in named:
            if reason := _reason_against(column):
                raise DynoError(reason[0], f"{flag} {column.name}: {reason[1]}; leave it out")
    for group in grouped:
        if len({column.name for column in group}) < 2:
            raise DynoError("bad_group", f"--group {', '.join(one.name for one in group)}: name two columns or more")
    chosen = catalogue.columns if asked is None else [one for one in catalogue.columns if one in asked]
    counted = [column for column in chosen if _reason_against(column) is None]
    if not counted:
        quoted = catalogue.relation.quoted
        raise DynoError("nothing_to_count", f"--table {quoted}: has no column that can be read and counted")
    left_out = [(column, reason[1]) for column in chosen if (reason := _reason_against(column))]
    return Source(catalogue, counted, grouped, where, left_out)


def _reason_against(column: Column) -> tuple[str, str] | None:
    if not column.readable:
        return "permission_denied", "this user may not read it"
    if not column.hashable and not column.sortable:
        return "no_equality", f"{column.type} has no equality, so there are no different values to count"
    if not can_hash(column):
        return "no_hash", f"{column.type} can be ordered but not hashed"
    return None
