"""A stand-in for the engine's watch: the outcome's shape without a sampler, so that all around it can be proved."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PROCESS = {"pid": 1, "backend_type": "client backend", "leader_pid": None}


def step(number: int, **more: Any) -> dict[str, Any]:
    """One second in which process 0 was active, half of it in a flush."""
    return {
        "step": number, "from_ns": number * 10**9, "to_ns": (number + 1) * 10**9, "sweeps": 1000,
        "cells": [[0, "42", "active", 1, 500, 100, 100], [0, "42", "active", 0, 500, 100, 0]],
        "clocks": [[0, 500_000_000, 1_000_000]], "episodes": [[1, 60, 100]], **more,
    }  # fmt: skip


class FakeWatch:
    """`_core.watch_server`: a step each `step_s`, until `steps` are done or it is told to stop."""

    def __init__(self, *, steps: int = 2, step_s: float = 0.05, ended: str = "time") -> None:
        self.steps = steps
        self.step_s = step_s
        self.ended = ended
        self.spec: dict[str, Any] = {}
        self.password: str | None = None

    def __call__(self, spec: str, password: str | None, live: Callable[[str], bool]) -> str:
        """As `_core.pyi` has it."""
        self.spec, self.password = json.loads(spec), password
        started_at_ns, steps, ended = time.time_ns(), [], self.ended
        for number in range(self.steps):
            time.sleep(self.step_s)
            steps.append(step(number))
            new = {"processes": [PROCESS], "events": ["IO:WalSync"]} if number == 0 else {}
            if not live(json.dumps(steps[-1] | {"processes": [], "events": []} | new)):
                ended = "stopped"
                break
        Path(self.spec["snapshots_path"]).write_bytes(b"PAR1")
        return json.dumps(
            {
                "format": 1, "route": "mapped", "note": None, "ended": ended, "started_at_ns": started_at_ns,
                "elapsed_ns": len(steps) * 10**9, "sweeps": 1000 * len(steps), "period_ns": 1_000_000,
                "sampler": {"cpu_ns": 1, "cpu_ns_per_sweep": 1, "host_share": 0.001, "budget": 0.01}, "version": 18,
                "events": ["", "IO:WalSync"],
                "processes": [{"pid": 1, "backend_type": "client backend", "leader_pid": None, "first_ns": 0,
                               "last_ns": 10**9, "clock": "task-clock", "cpu_ns": 1, "run_queue_ns": 1,
                               "voluntary_switches": 1, "involuntary_switches": 1, "block_io_delay_ns": None}],
                "steps": steps, "snapshots_path": self.spec["snapshots_path"],
            }
        )  # fmt: skip
