"""One trial: apply the arm, reset the state, run the measured window, take the arm back; one record out."""

from __future__ import annotations

import datetime
import time
from collections.abc import Mapping
from typing import Any

from dbdyno import engine
from dbdyno.design.arm import Arm
from dbdyno.design.experiment import Experiment
from dbdyno.design.schedule import Place, trial_seed
from dbdyno.errors import DynoError
from dbdyno.runner.apply import applied
from dbdyno.runner.evidence import Evidence
from dbdyno.runner.numbers import BAD_QUESTION
from dbdyno.runner.plain_io import opened
from dbdyno.runner.prepare import Prepared, session_statements
from dbdyno.runner.read_back import read_back
from dbdyno.runner.reset import reset, restore
from dbdyno.runner.spec import trial_spec
from dbdyno.targets.target import Target

# What another try would meet again, whatever the arm.
_ENDS_THE_RUN = ("interrupted", BAD_QUESTION)


def run_trial(
    experiment: Experiment,
    target: Target,
    prepared: Prepared,
    place: Place,
    seed: int,
    live: engine.Watcher | None = None,
) -> dict[str, Any]:
    """The body of a `trial` record. A `DynoError` of the server or the load makes it a failed one.

    `live` sees the work while it is done.
    """
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
        return {**record, "status": "ok", "reason": None, **_measure(experiment, target, prepared, place, seed, live)}
    except DynoError as error:
        if error.code in _ENDS_THE_RUN:
            raise
        return {**record, "status": "failed", "reason": error.message}


def _measure(
    experiment: Experiment,
    target: Target,
    prepared: Prepared,
    place: Place,
    seed: int,
    live: engine.Watcher | None,
) -> dict[str, Any]:
    statements = session_statements(prepared.session)
    evidence = Evidence(experiment, target, prepared, statements, place, seed)
    began = time.monotonic_ns()
    restored = restore(experiment, target, prepared.arm)
    with applied(target, prepared, undo=not experiment.always_restores):
        settled = time.monotonic_ns()
        steps = reset(target, prepared.arm, before_caches=evidence.before_caches)
        was_reset = time.monotonic_ns()
        seen = read_back(target, experiment, prepared, statements)
        if prepared.arm.is_plain_io:
            outcome = _plain_io(target, prepared.arm, evidence, trial_seed(seed, place.block))
        else:
            spec = trial_spec(
                experiment,
                prepared.arm,
                endpoint=target.endpoint,
                session_sql=[*target.session_sql, *statements],
                postmaster_pid=target.postmaster_pid,
                seed=seed,
                block=place.block,
            )
            outcome = _load(target, spec, evidence, live)
    return {
        "preparation": {"apply_ns": settled - began, "reset_ns": was_reset - settled},
        "reset": [*restored, *steps],
        **seen.record(),
        **evidence.record(),
        "outcome": outcome,
    }


def _load(target: Target, spec: Mapping[str, Any], evidence: Evidence, live: engine.Watcher | None) -> dict[str, Any]:
    """What the clients of the arm do."""
    password = target.endpoint.password
    evidence.before_work()
    outcome = engine.run_trial(spec, password.reveal() if password else None, live)
    _check_units(outcome)
    evidence.after_work()
    return outcome


def _plain_io(target: Target, arm: Arm, evidence: Evidence, seed: int) -> dict[str, Any]:
    """What this process does with files, the server idle beside it."""
    assert arm.file is not None
    assert arm.fixed_units is not None
    with opened(target, arm.file, arm.fixed_units, seed) as work:
        evidence.before_work()
        outcome = work.run()
        evidence.after_work(work.record())
    return outcome


def _check_units(outcome: Mapping[str, Any]) -> None:
    """A trial without a unit of work has no figures, so its block could not be compared: it is repeated instead."""
    units = outcome["units"]
    if units["successful"] == 0:
        failed = f", {units['failed']:,} failed" if units["failed"] else ""
        raise DynoError("no_unit", f"no unit of work succeeded within the window{failed}; use a longer window")


def now() -> str:
    """UTC, to the millisecond, as every record has it."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
