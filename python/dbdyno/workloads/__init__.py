"""Schemas with their data and scripts: described here, executed by the runner."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from importlib import resources

SHIPPED = ("pgbench", "none")


@dataclasses.dataclass(frozen=True, slots=True)
class Workload:
    """A schema and what belongs to it.

    `tables_sql` reads its size from `dbdyno.scale`; `generator` names what fills the tables, where the SQL itself does
    not; `constraints_sql` comes behind the load. `scripts` are (name, text, weight); `invariants` are queries that
    count violations.
    """

    name: str
    tables_sql: str
    generator: str | None = None
    constraints_sql: str = ""
    scripts: tuple[tuple[str, str, int], ...] = ()
    invariants: Mapping[str, str] = dataclasses.field(default_factory=dict)


def find(name: str) -> Workload | None:
    """The shipped workload called `name`, or None."""
    if name not in SHIPPED:
        return None
    if name == "none":  # for scripts that need no tables; with nothing to create, a target need not be written to
        return Workload(name, "")
    return Workload(name, resources.files("dbdyno.workloads").joinpath(f"{name}.sql").read_text(encoding="utf-8"))
