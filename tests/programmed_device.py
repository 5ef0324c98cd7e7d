"""Devices of known truth, calibrated as a real one would be, in time that is computed."""

from __future__ import annotations

import dataclasses
from typing import Any

from dbdyno.analysis.calibration.analyse import analyse
from dbdyno.analysis.calibration.findings import Calibration
from dbdyno.analysis.calibration.judge import Judge
from dbdyno.calibration.budget import MIB, QUICK, Budget
from dbdyno.calibration.cells import DATA, GROWING, LOG
from dbdyno.calibration.procedure import measure
from dbdyno.calibration.storage import Storage

# Small, so that a cache of some megabytes is a small part of it.
FILE_BYTES = 1024 * MIB
INVENTORY: dict[str, Any] = {
    "directory": "/nowhere",
    "device": "programmed",
    "direct": False,
    "cpus": 8,
    "queue": {"rotational": "0", "write_cache": "write through"},
}


def law(**more: Any) -> dict[str, Any]:
    """Eight servers of 100 us with a spread of 20 %, flushes of 120 us, and a drift of 5 % over seconds."""
    return {
        "servers": 8,
        "modes": [{"share": 1.0, "median_ns": 100_000.0, "sigma": 0.2}],
        "host_ns": 2_000,
        "bytes_per_s": None,
        "cache": None,
        "bucket": None,
        "stalls": [],
        "zeros": None,
        "drift": {"sigma": 0.05, "correlation_ns": 2e9},
        "flush": {"median_ns": 120_000.0, "sigma": 0.1, "times": {}},
        "seed": 1,
        **more,
    }


class _Silence:
    def begin(self, what: str, left_ns: int) -> None:
        """Nobody watches."""

    def go_on(self) -> bool:
        """Always."""
        return True


def calibrated(of: dict[str, Any], seed: int, budget: Budget = QUICK, **inventory: Any) -> Calibration:
    """The findings of a quick calibration."""
    return analyse(recorded(of, seed, budget, **inventory))


def recorded(of: dict[str, Any], seed: int, budget: Budget = QUICK, **inventory: Any) -> dict[str, Any]:
    """Its record."""
    storage = Storage.programmed({**of, "seed": seed})
    files = dict.fromkeys((DATA, LOG, GROWING), storage)
    entries = measure(files, budget, FILE_BYTES, seed, Judge(seed), _Silence()).entries
    return {
        "budget": budget.name,
        "measured_at": "2026-11-22T00:00:00+00:00",
        "seed": seed,
        "engine": storage.engine_name,
        "inventory": {**INVENTORY, **inventory},
        "asked": {"num_disks": 1, "max_latency_ms": 20.0, "p99_budget_ns": None},
        "file_bytes": FILE_BYTES,
        "filled_bytes": 0,
        "noise": {},
        "own_cost": [],
        "entries": entries,
        "interrupted": False,
        "warnings": [],
    }


def without(*phases: str) -> Budget:
    """The quick budget with these phases only cut to nothing, where a test has no use for them."""
    nothing = {
        "idle": {"idle_blocks": 0},
        "cache_map": {"cache_blocks": 0},
        "sweep": {"sweep_blocks": 0},
        "sizes": {"size_blocks": 0},
        "burst": {"burst_ns": 0},
        "flush": {"flush_blocks": 0},
        "group_commit": {"group_blocks": 0},
        "mixed": {"mixed_blocks": 0},
    }
    changes: dict[str, Any] = {}
    for phase in phases:
        changes |= nothing[phase]
    return dataclasses.replace(QUICK, **changes)
