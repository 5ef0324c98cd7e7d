"""One trial: apply the arm, reset the state, run the measured window, take the arm back; one record out."""

from __future__ import annotations

import datetime
import time
from collections.abc import Mapping
from typing import Any

from dbdyno import engine
from dbdyno.design.experiment import Experiment
from dbdyno.design.schedule import Place
from dbdyno.errors import DynoError
from dbdyno.runner.apply import applied, deviations, read_back, reset
from dbdyno.runner.prepare import Prepared, session_statements
from dbdyno.runner.spec import trial_spec
from dbdyno.targets.target import Target


def run_trial(experiment: Experiment, target: Target, prepared: Prepared, place: Place, seed: int) -> dict[str, Any]:
    """The body of a `trial` record. A `DynoError` of the server or the load makes it a failed one."""
    started_at = now()
    record: dict[str, Any] = {
        "trial": place.trial,
        "block": place.block,
        "position": place.position,
        "arm": place.arm,
        "attempt": place.attempt,
        "started_at": started_at,
    }
    try:
        return {**record, "status": "ok", "reason": None, **_measure(experiment, target, prepared, place, seed)}
    except DynoError as error:
        if error.code == "interrupted":
            raise
        return {**record, "status": "failed", "reason": error.message}


def _measure(experiment: Experiment, target: Target, prepared: Prepared, place: Place, seed: int) -> dict[str, Any]:
    statements = session_statements(prepared.session)
    began = time.monotonic_ns()
    with applied(experiment, target, prepared):
        settled = time.monotonic_ns()
        reset(experiment, target)
        was_reset = time.monotonic_ns()
        settings = read_back(target, prepared, statements)
        before = target.counters()
        spec = trial_spec(
            experiment,
            prepared.arm,
            endpoint=target.endpoint,
            session_sql=[*target.session_sql, *statements],
            postmaster_pid=target.postmaster_pid,
            seed=seed,
            block=place.block,
        )
        password = target.endpoint.password
        outcome = engine.run_trial(spec, password.reveal() if password else None)
        after = target.counters()
    return {
        "preparation": {"apply_ns": settled - began, "reset_ns": was_reset - settled},
        "settings": settings,
        "deviations": deviations(target, prepared, settings),
        "server": _differences(before, after),
        "outcome": outcome,
    }


def _differences(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    return {name: after[name] - before[name] for name in after if name in before}


def now() -> str:
    """UTC, to the millisecond, as every record has it."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
