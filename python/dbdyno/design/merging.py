"""The workload and one level of each factor, put together: a level's word stands above the workload's.

Two levels that say one thing are an error: neither could be told from the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dbdyno.design.document import Expect, Level, Load
from dbdyno.errors import DynoError

_LOAD_KEYS = (
    *("script", "statement", "units", "executions", "fetch_rows", "clients", "threads", "mode", "connect_ramp"),
    *("latency_limit", "rows_per_unit", "max_tries"),
)


def merged_load(workload: Load, parts: list[Level], levels: dict[str, str], path: Path) -> dict[str, Any]:
    """The workload's keys, each replaced by the one level that sets it."""
    joined: dict[str, Any] = {}
    for key in _LOAD_KEYS:
        chosen = only_one(key, [getattr(part, key) for part in parts], levels, path)
        joined[key] = getattr(workload, key) if chosen is None else chosen
    arrival = only_one("arrival", [part.arrival for part in parts], levels, path)
    think_time = only_one("think_time", [part.think_time for part in parts], levels, path)
    if arrival is not None and think_time is not None:
        raise DynoError("two_values", f"{path.name}: factors: one level sets arrival, another think_time; keep one")
    own = arrival is None and think_time is None
    joined["arrival"] = workload.arrival if own else arrival
    joined["think_time"] = workload.think_time if own else think_time
    return joined


def only_one(key: str, values: list[Any], levels: dict[str, str], path: Path) -> Any:
    """The value of the one level that has the key, or None."""
    given = [(factor, value) for factor, value in zip(levels, values, strict=True) if value is not None]
    if len(given) > 1:
        raise DynoError(
            "two_values", f"{path.name}: factors {given[0][0]} and {given[1][0]} both set {key}; let one of them set it"
        )
    return given[0][1] if given else None


def merged(key: str, tables: list[Mapping[str, Any]], levels: dict[str, str], path: Path) -> dict[str, Any]:
    """The union of the levels' tables; a name in two of them is an error."""
    joined: dict[str, Any] = {}
    origin: dict[str, str] = {}
    for factor, table in zip(levels, tables, strict=True):
        for name, value in table.items():
            if name in joined:
                raise DynoError(
                    "two_values",
                    f"{path.name}: factors {origin[name]} and {factor} both have {key}.{name}; let one of them set it",
                )
            joined[name], origin[name] = value, factor
    return joined


def merged_expect(common: Expect, parts: list[Expect], levels: dict[str, str], path: Path) -> Expect:
    """What a level expects stands above what all arms are expected to show."""
    joined: dict[str, Any] = {}
    for key in ("physical_reads", "parallel_workers", "plan", "no_plan", "profile", "error"):
        chosen = only_one(f"expect.{key}", [getattr(part, key) for part in parts], levels, path)
        joined[key] = getattr(common, key) if chosen is None else chosen
    for key in ("settings", "relation_bytes"):
        own = merged(f"expect.{key}", [getattr(part, key) for part in parts], levels, path)
        joined[key] = {**getattr(common, key), **own}
    return Expect.model_construct(**joined)
