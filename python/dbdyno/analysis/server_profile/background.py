"""Server processes that serve no client: how busy each kind was, and with what.

A background process is *busy* while it computes, stands in line for a CPU, or sleeps in the midst of work. It is not
while it waits for work (class `Activity`) or keeps a pace on purpose. Busy all the time is saturated: whoever depends
on it waits in line. I/O workers are such servers; their time is in no session's.
"""

from __future__ import annotations

import numpy as np

from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.server_profile.division import Division
from dbdyno.analysis.server_profile.findings import BackgroundProcess
from dbdyno.analysis.server_profile.leaves import Leaves
from dbdyno.analysis.server_profile.snapshots import BACKGROUND, Flags, Floats, Snapshots, sums_by

# Sleep that a process takes to keep a pace: neither work nor idleness, and nothing waits for it to end.
PACING = frozenset(
    {"Timeout:CheckpointWriteDelay", "Timeout:VacuumDelay", "Timeout:VacuumTruncate", "Timeout:RecoveryApplyDelay"}
)


def is_idle(event: str) -> bool:
    """Whether sleep in this event is waiting for work, or pacing."""
    return event.startswith("Activity:") or event in PACING


def background(leaves: Leaves, division: Division) -> list[BackgroundProcess]:
    """Kinds of processes, the busiest first."""
    kinds = sorted({process.backend_type for process in leaves.rows.processes if not process.is_session})
    found = [_of_kind(leaves, division, kind) for kind in kinds]
    return sorted(
        (kind for kind in found if kind is not None), key=lambda kind: (-kind.busy.estimate, kind.backend_type)
    )


def _of_kind(leaves: Leaves, division: Division, kind: str) -> BackgroundProcess | None:
    rows = leaves.rows
    alike = [place for place, process in enumerate(rows.processes) if process.backend_type == kind]
    chosen = (leaves.state == BACKGROUND) & np.isin(leaves.process, alike)
    wall = leaves.seen_ns[:, chosen].sum(axis=1)
    if not len(wall) or wall[0] <= 0:
        return None

    def share(ns: Floats) -> Estimate:
        return leaves.draws.estimate(np.divide(ns, wall, out=np.zeros_like(wall), where=wall > 0))

    names = [rows.events[event] for event in leaves.event]
    idle = chosen & np.array([is_idle(name) for name in names], dtype=np.bool_)
    asleep = {
        name or "asleep_no_wait_event": float(leaves.asleep_ns[0, chosen & (leaves.event == number)].sum())
        for number, name in enumerate(rows.events)
    }
    waits = {name: ns / float(wall[0]) for name, ns in sorted(asleep.items(), key=lambda item: -item[1]) if ns > 0}
    return BackgroundProcess(
        backend_type=kind,
        processes=len(alike),
        busy=share(np.maximum(wall - leaves.asleep_ns[:, idle].sum(axis=1), 0.0)),
        cpu=share(leaves.cpu_ns[:, chosen].sum(axis=1)) if leaves.has_clocks else None,
        run_queue=share(leaves.run_queue_ns[:, chosen].sum(axis=1)) if leaves.has_clocks else None,
        waits=waits,
        busiest=_busiest(rows, division, alike),
    )


def _busiest(rows: Snapshots, division: Division, alike: list[int]) -> float:
    """The greatest busy share of one process in one step, by the same clocks as the mean.

    Not by the events alone: a process that was woken up computes before it clears the event that it slept in.
    """
    chosen: Flags = np.isin(rows.process, alike)
    idle = np.array([is_idle(event) for event in rows.events], dtype=np.bool_)[rows.event]
    pair = rows.step * max(len(rows.processes), 1) + rows.process
    wall = np.bincount(pair[chosen], weights=rows.ns[chosen])
    idle_ns = sums_by(pair[chosen], np.where(idle, division.asleep_ns, 0.0)[chosen], len(wall))
    # A process that came or went within a step was there for too little of it.
    shares = np.divide(wall - idle_ns, wall, out=np.zeros_like(wall), where=wall >= 0.5 * wall.max(initial=0))
    return float(shares.max(initial=0.0))
