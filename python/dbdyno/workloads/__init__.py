"""Schemas with their data, described in SQL that reads its size from `dbdyno.scale`; executed by the runner."""

from __future__ import annotations

from importlib import resources

SHIPPED = ("pgbench", "none")


def shipped_schema(name: str) -> str | None:
    """The SQL of a shipped schema, or None if `name` is not one."""
    if name not in SHIPPED:
        return None
    if name == "none":  # for scripts that need no tables; with nothing to create, a target need not be written to
        return ""
    return resources.files("dbdyno.workloads").joinpath(f"{name}.sql").read_text(encoding="utf-8")
