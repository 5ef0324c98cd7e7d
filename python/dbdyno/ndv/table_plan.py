"""What is read of a table of a database in a file, and the spec of `_core.ndv_scan_arrow` for it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from dbdyno.errors import DynoError
from dbdyno.ndv.databases import Table
from dbdyno.ndv.described import SourceColumn, described, scanned
from dbdyno.ndv.naming import column_named, names_in_list, shown


@dataclasses.dataclass(frozen=True, slots=True)
class TablePlan:
    """A table, the columns that are read in their order, groups of them, a condition, `precision` of sketches, and
    `interop`, those for others."""

    table: Table
    columns: Sequence[str]
    groups: Sequence[Sequence[str]]
    where: str | None
    precision: int
    interop: Sequence[str]

    @property
    def spec(self) -> dict[str, Any]:
        """As docs/architecture.md has it."""
        return {
            "columns": list(self.columns),
            "groups": [group_document(group) for group in self.groups],
            "precision": self.precision,
            "seed": 0,
            "rows_expected": self.table.rows if self.where is None else 0,
            "interop": list(self.interop),
        }

    def catalogue(self) -> dict[str, Any]:
        """The table, as `analysis.ndv.without_planner` takes it."""
        columns = [
            SourceColumn(column.name, shown(column.name), column.type, column.unique, column.refers_to)
            for column in self.table.columns
        ]
        return described(self.table.name, self.table.label, self.table.kind, columns)

    def scan_document(self, via: str, outcome: Mapping[str, Any]) -> dict[str, Any]:
        """What was read; columns that the engine cannot compare, and those whose types the core does not know."""
        left_out = [
            {"column": column.name, "type": column.type, "reason": column.reason}
            for column in self.table.columns
            if column.reason is not None
        ]
        not_counted = [*left_out, *outcome["not_counted"]]
        return scanned(via, self.groups, not_counted, self.where, in_order=self.table.kind == "table")


def plan_table(
    table: Table,
    columns: str | None,
    groups: Sequence[str],
    where: str | None,
    precision: int,
    interop: Sequence[str] = (),
) -> TablePlan:
    """Choose what is read.

    Args:
        columns, groups: names as the user wrote them; a group's columns are read, too.
        where: a condition that was checked.

    Raises:
        DynoError: `bad_names`, `unknown_column`, `not_comparable`, `bad_group`, `nothing_to_count`.
    """
    names = [column.name for column in table.columns]
    grouped = [[_named("--group", name, names) for name in names_in_list("--group", group)] for group in groups]
    asked = None
    if columns is not None:
        asked = {_named("--columns", name, names) for name in names_in_list("--columns", columns)}
        asked |= {name for group in grouped for name in group}
    for group in grouped:
        if len(set(group)) < 2:
            raise DynoError("bad_group", f"--group {', '.join(group)}: name two columns or more")
    reasons = {column.name: column.reason for column in table.columns}
    for flag, named in (("--columns", asked or set()), ("--group", {name for group in grouped for name in group})):
        for name in sorted(named):
            if reasons[name] is not None:
                raise DynoError("not_comparable", f"{flag} {name}: {reasons[name]}; leave it out")
    read = [name for name in names if (asked is None or name in asked) and reasons[name] is None]
    if not read:
        raise DynoError("nothing_to_count", f"--table {table.label}: has no column that can be counted")
    return TablePlan(table, read, grouped, where, precision, interop)


def group_document(names: Sequence[str]) -> dict[str, Any]:
    """A group of columns in a spec."""
    return {"name": ", ".join(names), "columns": list(names)}


def _named(flag: str, name: str, names: Sequence[str]) -> str:
    """In whatever case, as DuckDB and SQLite take names."""
    found = [one for one in names if one.casefold() == name.casefold()]
    return found[0] if len(found) == 1 else column_named(flag, name, names)
