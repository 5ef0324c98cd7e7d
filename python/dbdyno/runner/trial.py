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


def _measure(
    experiment: Experiment, target: Target, prepared: Prepared, place: Place, seed: int
) -> dict[str, Any]:
    began = time.monotonic_ns()
    if "restore" in experiment.reset:
        target.restore()
    target.apply_settings({**prepared.settings}, prepared.role)
    applied = time.monotonic_ns()
    statements = session_statements(prepared.session)
    if prepared.arm.sql:
        target.execute(prepared.arm.sql)
    try:
        _reset(experiment, target)
        was_reset = time.monotonic_ns()
        settings = _read_back(target, prepared, statements)
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
        outcome = engine.run_trial(spec, target.endpoint.password_text())
        after = target.counters()
    finally:
        if prepared.arm.undo:
            target.execute(prepared.arm.undo)
    return {
        "preparation": {"apply_ns": applied - began, "reset_ns": was_reset - applied},
        "settings": settings,
        "server": _differences(before, after),
        "outcome": outcome,
    }


def _reset(experiment: Experiment, target: Target) -> None:
    for step in experiment.reset:
        if step == "vacuum":
            target.vacuum()
        elif step == "checkpoint":
            target.checkpoint()


def _read_back(target: Target, prepared: Prepared, statements: list[str]) -> dict[str, str]:
    """What a client of this arm sees, asked on a connection of its own; raises if a setting did not take."""
    names = [*prepared.settings, *prepared.role, *prepared.session]
    with target.connect() as connection:
        for statement in statements:
            connection.execute(statement.encode())
        rows = {name: connection.execute("SELECT current_setting(%s)", (name,)).fetchone() for name in names}
    return {name: str(row[0]) for name, row in rows.items() if row}


def _differences(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    return {name: after[name] - before[name] for name in after if name in before}


def now() -> str:
    """UTC, to the millisecond, as every record has it."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
