"""Average active sessions over time, by class: the chart that DBAs know.

CPU and run queue are those of the exact clocks; a wait class is the sleep in its events.
"""

from __future__ import annotations

import numpy as np

from dbdyno.analysis.server_profile.division import Division
from dbdyno.analysis.server_profile.findings import ActiveSessions
from dbdyno.analysis.server_profile.snapshots import IDLE_IN_TRANSACTION, Floats, Snapshots, sums_by

CPU = "CPU"
RUN_QUEUE = "run queue"
NO_EVENT = "no event"
NO_CLOCK = "no clock"


def class_of(event: str) -> str:
    """The class that a chart shows sleep in an event as."""
    return event.partition(":")[0] if event else NO_EVENT


def active_sessions(rows: Snapshots, division: Division, cpus: int | None) -> ActiveSessions:
    """The series of all classes that were ever seen, the greatest first."""
    found: dict[str, Floats] = {}

    def add(name: str, ns: Floats) -> None:
        found[name] = found.get(name, np.zeros(rows.steps)) + _per_step(rows, np.where(rows.active, ns, 0.0))

    add(CPU, division.cpu_ns)
    add(RUN_QUEUE, division.run_queue_ns)
    add(NO_CLOCK, division.no_clock_ns)
    for number, event in enumerate(rows.events):
        here = rows.event == number
        if (here & rows.active).any():
            add(class_of(event), np.where(here, division.asleep_ns, 0.0))
    seen = sorted((name for name in found if found[name].sum() > 0), key=lambda name: -found[name].sum())
    idle = _per_step(rows, np.where(rows.state == IDLE_IN_TRANSACTION, rows.ns, 0.0))
    return ActiveSessions(
        step_ns=int(np.median(rows.step_ns)) if rows.steps else 0,
        from_ns=[int(ns) for ns in rows.from_ns],
        classes=seen,
        series=[_rounded(found[name]) for name in seen],
        idle_in_transaction=_rounded(idle),
        cpus=cpus,
    )


def _per_step(rows: Snapshots, ns: Floats) -> Floats:
    """The average number of sessions in each step."""
    spent = sums_by(rows.step, ns, rows.steps)
    return np.divide(spent, rows.step_ns, out=np.zeros(rows.steps), where=rows.step_ns > 0)


def _rounded(values: Floats) -> list[float]:
    return [round(float(value), 4) for value in values]
