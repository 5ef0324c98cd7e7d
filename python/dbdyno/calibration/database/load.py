"""A level as a trial of the load engine (docs/architecture.md has the spec's keys)."""

from __future__ import annotations

from typing import Any

from dbdyno.calibration.budget import PAGE_BYTES, S
from dbdyno.calibration.database import plan
from dbdyno.calibration.database.budget import DatabaseBudget
from dbdyno.calibration.database.table import COMMITS, TABLE
from dbdyno.targets.counters import CLIENTS_NAME
from dbdyno.targets.target import Target

CONNECT_TIMEOUT_NS = 10 * S
# A scan is one unit of work, however long it takes.
LONGEST_SCAN_NS = 600 * S
# As `dbdyno run` watches its trials.
WATCHED = {"route": "auto", "period_ns": None, "budget": 0.01}
# One process reads in order; what compiles the statement is no reading.
SCAN_SESSION = ("SET max_parallel_workers_per_gather = 0", "SET jit = off")


def script(kind: str, table_pages: int, scanned_pages: int) -> str:
    """What a session does: `n` lies in the table only, so the index alone answers neither the lookup nor the scan."""
    match kind:
        case plan.READS:
            return f"\\set id random(1, {table_pages})\nSELECT n FROM {TABLE} WHERE id = :id;\n"
        case plan.SCAN:
            return f"SELECT sum(n) FROM (SELECT n FROM {TABLE} LIMIT {scanned_pages}) AS part;\n"
        case _:
            return f"INSERT INTO {COMMITS} VALUES (1);\n"


def spec(target: Target, level: plan.Level, budget: DatabaseBudget, table_bytes: int, seed: int) -> dict[str, Any]:
    """The trial: holds no secret."""
    pages, scanned = table_bytes // PAGE_BYTES, min(budget.scanned_bytes, table_bytes) // PAGE_BYTES
    is_scan = level.kind == plan.SCAN
    return {
        "target": target.endpoint.engine_target(CLIENTS_NAME, CONNECT_TIMEOUT_NS),
        "session_sql": [*target.session_sql, *(SCAN_SESSION if is_scan else ())],
        "scripts": [{"name": f"{level.kind}.sql", "text": script(level.kind, pages, scanned)}],
        "mode": "prepared",
        "clients": level.sessions,
        "arrival": {"kind": "closed", "think_time_ns": 0},
        "seed": seed,
        "warm_up_ns": 0 if is_scan else budget.warm_up_ns,
        "window_ns": LONGEST_SCAN_NS if is_scan else budget.window_ns,
        "fixed_units": 1 if is_scan else None,
        "waits": {**WATCHED, "postmaster_pid": target.postmaster_pid},
    }
