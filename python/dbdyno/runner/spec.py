"""One arm and one block -> the trial spec that the engine runs (docs/architecture.md). Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dbdyno.design.arm import Arm
from dbdyno.design.experiment import FIXED_WORK_LIMIT_NS, Experiment
from dbdyno.targets.counters import CLIENTS_NAME
from dbdyno.targets.endpoint import Endpoint

# How often the WAL positions are asked for during a window. At 50 Hz the asking costs the server under half a
# percent of one CPU (about 80 us a query), and a window of 1 s still has 50 snapshots of a sawtooth.
EXPOSURE_PERIOD_NS = 20_000_000
# Odd, so that it does not keep step with what servers do a hundred times a second.
STACK_FREQUENCY_HZ = 99
DRAIN_LIMIT_NS = 60_000_000_000
CONNECT_TIMEOUT_NS = 10_000_000_000
SERIES_STEP_NS = 100_000_000
# An open loop's unit is late when it took longer than this from its intended start, unless the file says otherwise.
OPEN_LATENCY_LIMIT_NS = 50_000_000


def trial_spec(
    experiment: Experiment,
    arm: Arm,
    *,
    endpoint: Endpoint,
    session_sql: Sequence[str],
    postmaster_pid: int | None,
    seed: int,
) -> dict[str, Any]:
    """The spec, `seed` that of the block; holds no secret."""
    limit = arm.latency_limit_ns
    if limit is None and arm.arrival.kind == "open":
        limit = OPEN_LATENCY_LIMIT_NS
    return {
        "target": endpoint.engine_target(CLIENTS_NAME, CONNECT_TIMEOUT_NS),
        "session_sql": list(session_sql),
        "scripts": [{"name": use.name, "text": use.text, "weight": use.weight} for use in arm.scripts],
        "variables": arm.variables,
        "mode": arm.mode,
        "clients": arm.clients,
        "threads": arm.threads,
        "arrival": arm.arrival.document(),
        "fixed_units": arm.fixed_units,
        "fetch_rows": arm.fetch_rows,
        "connect_ramp_ns": arm.connect_ramp_ns,
        "seed": seed,
        "warm_up_ns": experiment.warm_up_ns,
        "window_ns": experiment.window_ns,
        "drain_limit_ns": DRAIN_LIMIT_NS if arm.fixed_units is None else FIXED_WORK_LIMIT_NS,
        "max_tries": arm.max_tries,
        "continue_on_error": False,
        "latency_limit_ns": limit,
        "series_step_ns": SERIES_STEP_NS,
        "waits": {
            "route": "auto",
            "postmaster_pid": postmaster_pid,
            "period_ns": None,
            "budget": experiment.asked.sampling_budget,
        },
        "exposure_period_ns": EXPOSURE_PERIOD_NS,
        "stacks": {"frequency_hz": STACK_FREQUENCY_HZ} if experiment.asked.stacks else None,
    }
