"""The outcome of reading a trace file, as `_core.trace_profile` returns it: one that exists nowhere."""

from __future__ import annotations

from typing import Any

MS = 1_000_000


def wait(event: str, class_: str, count: int, sum_ns: int, *, between: bool = False, line: int = 20) -> dict[str, Any]:
    """One event; the slowest was twice the mean."""
    return {
        "event": event,
        "class": class_,
        "count": count,
        "sum_ns": sum_ns,
        "between_calls_count": count if between else 0,
        "between_calls_ns": sum_ns if between else 0,
        "min_ns": 0,
        "max_ns": 2 * sum_ns // count,
        "first_line": line,
        "slowest_line": line + 1,
        "histogram": None,
    }


def calls(count: int, own_cpu_ns: int, own_elapsed_ns: int, **given: int) -> dict[str, int]:
    """Calls of a kind, without recursive ones within them but for what is given."""
    return {
        "count": count,
        "cpu_ns": own_cpu_ns,
        "elapsed_ns": own_elapsed_ns,
        "own_cpu_ns": own_cpu_ns,
        "own_elapsed_ns": own_elapsed_ns,
        "physical_reads": 0,
        "consistent_reads": 0,
        "current_reads": 0,
        "own_physical_reads": 0,
        "own_consistent_reads": 0,
        "own_current_reads": 0,
        "misses": 0,
        "rows": 0,
        "first_line": 10,
        "slowest_ns": 0,
        "slowest_line": 11,
    } | given


def row(statement: int, by_kind: dict[str, Any], waits: list[dict[str, Any]], **given: Any) -> dict[str, Any]:
    """A statement of a scope."""
    executions = {"count": 1, "sum_ns": 1, "histogram": None, "slowest": None}
    empty = {"depth_min": 0, "depth_max": 0, "plans": [], "executions": executions}
    return {"statement": statement, "calls": by_kind, "waits": waits} | empty | given


def statement(number: int, text: str, **given: Any) -> dict[str, Any]:
    """What is known of one in the whole file."""
    return {
        "statement": number,
        "kind": "statement",
        "cursor": None,
        "sql_id": f"sql{number:010d}",
        "sql_id_is_computed": False,
        "hash_value": number,
        "structure": text,
        "text": text,
        "text_bytes": len(text),
        "command": 3,
        "user": 84,
        "line": 5 + number,
    } | given


def file(
    statements: list[dict[str, Any]], rows: list[dict[str, Any]], duration_ns: int, **given: Any
) -> dict[str, Any]:
    """One file with one scope, whose profile adds up."""
    events: dict[str, dict[str, Any]] = {}
    for one in (one for each in rows for one in each["waits"]):
        known = events.setdefault(one["event"], one | dict.fromkeys(("count", "sum_ns", "between_calls_ns"), 0))
        for key in ("count", "sum_ns", "between_calls_ns"):
            known[key] += one[key]
    every = [sums for each in rows for sums in each["calls"].values()]
    cpu_ns, elapsed_ns = (sum(sums[key] for sums in every) for key in ("own_cpu_ns", "own_elapsed_ns"))
    waited_ns = sum(one["sum_ns"] for one in events.values())
    within_ns = elapsed_ns - cpu_ns - (waited_ns - sum(one["between_calls_ns"] for one in events.values()))
    rest_ns = duration_ns - cpu_ns - waited_ns
    scope = {
        "scope": "file",
        "session": "(8.15)",
        "process": None,
        "first_mark": None,
        "last_mark": None,
        "attributes": {},
        "duration_ns": duration_ns,
        "begin_tim_ns": 0,
        "begin_line": 7,
        "end_tim_ns": duration_ns,
        "end_line": 900,
        "profile_ns": {
            "cpu": cpu_ns,
            "waits": {name: one["sum_ns"] for name, one in events.items()},
            "unaccounted": rest_ns,
            "unaccounted_within_calls": within_ns,
            "unaccounted_between_calls": rest_ns - within_ns,
        },
        "calls": {},
        "waits": list(events.values()),
        "statements": rows,
        "call_tree": [],
        "targets": [],
        "transactions": {"commits": 0, "rollbacks": 0, "read_only": 0, "first_line": 0, "last_line": 0},
        "lob_calls": [],
        "errors": [],
    }
    transactions = given.pop("transactions", {})
    scope["transactions"] |= transactions
    return {
        "file": "shop_ora_1.trc",
        "bytes": 81_920,
        "text_bytes": 81_920,
        "compression": "none",
        "broken": None,
        "lines": 900,
        "version": "12.2.0.1.0",
        "time_unit": "us",
        "cpu_clock_is_coarse": False,
        "header": [],
        "records": {"calls": len(every), "waits": 0, "text_lines": 3, "bind_lines": 0},
        "notes": [],
        "unknown_lines": {"count": 0, "shapes": [], "others": 0},
        "statements": statements,
        "scopes": [scope],
    } | given
