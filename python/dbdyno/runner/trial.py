"""One trial: apply the arm, reset the state, run the measured window, take the arm back; one record out."""

from __future__ import annotations

import datetime
import time
from typing import Any

from dbdyno.design.schedule import Place
from dbdyno.errors import DynoError
from dbdyno.runner.answers import answers_of
from dbdyno.runner.apply import applied
from dbdyno.runner.evidence import Evidence
from dbdyno.runner.numbers import BAD_QUESTION
from dbdyno.runner.prepare import Prepared, session_statements
from dbdyno.runner.reset import reset, restore
from dbdyno.runner.work import Circumstances, opened
from dbdyno.targets.target import Target

# What another try would meet again, whatever the arm.
_ENDS_THE_RUN = ("interrupted", BAD_QUESTION)


def run_trial(around: Circumstances, target: Target, prepared: Prepared, place: Place) -> dict[str, Any]:
    """The body of a `trial` record. A `DynoError` of the server or the load makes it a failed one."""
    record: dict[str, Any] = {
        "trial": place.trial,
        "block": place.block,
        "position": place.position,
        "arm": place.arm,
        "attempt": place.attempt,
        "started_at": now(),
    }
    try:
        return {**record, "status": "ok", "reason": None, **_measure(around, target, prepared, place)}
    except DynoError as error:
        if error.code in _ENDS_THE_RUN:
            raise
        return {**record, "status": "failed", "reason": error.message}


def _measure(around: Circumstances, target: Target, prepared: Prepared, place: Place) -> dict[str, Any]:
    experiment = around.experiment
    evidence = Evidence(experiment, target, prepared, session_statements(prepared.session), place, around.seed)
    began = time.monotonic_ns()
    restored = restore(experiment, target, prepared.arm)
    with applied(target, prepared, undo=not experiment.always_restores):
        settled = time.monotonic_ns()
        steps = reset(target, prepared.arm, before_caches=evidence.before_caches)
        was_reset = time.monotonic_ns()
        with opened(around, target, prepared, place.block) as work:
            evidence.before_work()
            outcome = work.run()
            evidence.after_work(work.record())
    return {
        "preparation": {"apply_ns": settled - began, "reset_ns": was_reset - settled},
        "reset": [*restored, *steps],
        **work.seen.record(),
        **evidence.record(),
        "answers": answers_of(outcome.get("captured", {}), experiment.truth),
        "outcome": outcome,
    }


def now() -> str:
    """UTC, to the millisecond, as every record has it."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
