"""What a watch saw, as columns: one row for each process, query, state and event that was seen in a step.

A step has so many sweeps; a row was `seen` in some of them, `looked` at in some of these (whether the task slept), and
found `asleep` in some of those. Beside them the exact clocks of each process over each step.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dbdyno.analysis.documents import Document
from dbdyno.analysis.server_profile.processes import Process

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

ACTIVE: Final = 0
IDLE_IN_TRANSACTION: Final = 1
IDLE: Final = 2
BACKGROUND: Final = 3

# A session that starts up is served: its client waits. Only these three are told apart from being active.
STATES = {
    "idle": IDLE,
    "disabled": IDLE,
    "idle in transaction": IDLE_IN_TRANSACTION,
    "idle in transaction (aborted)": IDLE_IN_TRANSACTION,
}


def sums_by(of: Ints, values: npt.NDArray[Any], count: int) -> Floats:
    """The sum of the values of each number from 0 to count."""
    return np.bincount(of, weights=values, minlength=count).astype(np.float64, copy=False)


@dataclasses.dataclass(frozen=True, slots=True)
class Snapshots:
    """The rows of a watch and its clocks.

    `ns` is the time that a row stands for: seen / sweeps x the length of its step.
    `query` indexes `queries`; `queries[0]` is None: no query id.
    `cpu_ns` and `run_queue_ns` are by step and process, NaN where there is no clock.
    """

    step: Ints
    process: Ints
    query: Ints
    state: Ints
    event: Ints
    seen: Ints
    looked: Ints
    asleep: Ints
    ns: Floats
    from_ns: Ints
    step_ns: Ints
    cpu_ns: Floats
    run_queue_ns: Floats
    queries: list[str | None]
    events: list[str]
    processes: list[Process]
    states_known: bool

    @property
    def steps(self) -> int:
        """How many steps there are, those without a row included."""
        return len(self.step_ns)

    @property
    def is_session(self) -> Flags:
        """Rows of sessions, whose active time is database time."""
        flags: Flags = self.state != BACKGROUND
        return flags

    @property
    def active(self) -> Flags:
        """Rows that are database time."""
        flags: Flags = self.state == ACTIVE
        return flags


def snapshots(watch: Document, known: list[Process]) -> Snapshots:
    """The columns of a watch outcome."""
    steps: Sequence[Document] = watch["steps"]
    events = [str(event) for event in watch["events"]]
    queries: dict[str | None, int] = {None: 0}
    states_known = any(cell[2] is not None and known[cell[0]].is_session for step in steps for cell in step["cells"])
    rows: list[tuple[int, ...]] = []
    for place, step in enumerate(steps):
        for cell in step["cells"]:
            code = _state(known[cell[0]], cell[2], events[cell[3]])
            number = queries.setdefault(None if cell[1] in (None, "0") else str(cell[1]), len(queries))
            rows.append((place, cell[0], number, code, *cell[3:]))
    table = np.array(rows, dtype=np.int64).reshape(-1, 8)
    lengths = np.array([step["to_ns"] - step["from_ns"] for step in steps], dtype=np.int64)
    sweeps = np.array([step["sweeps"] for step in steps], dtype=np.float64)
    cpu_ns, run_queue_ns = _clocks(watch)
    with np.errstate(divide="ignore", invalid="ignore"):
        ns_of_one: Floats = np.where(sweeps > 0, lengths / sweeps, 0.0)
    at, process, query, state, event, seen, looked, asleep = table.T
    return Snapshots(
        step=at,
        process=process,
        query=query,
        state=state,
        event=event,
        seen=seen,
        looked=looked,
        asleep=asleep,
        ns=ns_of_one[at] * seen,
        from_ns=np.array([step["from_ns"] for step in steps], dtype=np.int64),
        step_ns=lengths,
        cpu_ns=cpu_ns,
        run_queue_ns=run_queue_ns,
        queries=list(queries),
        events=events,
        processes=known,
        states_known=states_known,
    )


def _state(process: Process, state: str | None, event: str) -> int:
    if not process.is_session:
        return BACKGROUND
    if state is None:
        # The server's memory did not say: a backend that waits for its client's next command is idle, as far as we see.
        return IDLE if event == "Client:ClientRead" else ACTIVE
    return STATES.get(state, ACTIVE)


def _clocks(watch: Document) -> tuple[Floats, Floats]:
    """By step and process; a process that has a clock and does not stand in a step used nothing in it."""
    steps: Sequence[Any] = watch["steps"]
    cpu_ns = np.full((len(steps), len(watch["processes"])), np.nan)
    for process, about in enumerate(watch["processes"]):
        if about["clock"] is not None:
            lived = [step["to_ns"] > about["first_ns"] and step["from_ns"] < about["last_ns"] for step in steps]
            cpu_ns[np.array(lived, dtype=np.bool_), process] = 0
    run_queue_ns = cpu_ns.copy()
    for place, step in enumerate(steps):
        for process, cpu, run_queue in step["clocks"]:
            if cpu is not None:
                cpu_ns[place, process] = cpu
                run_queue_ns[place, process] = run_queue or 0
    return cpu_ns, run_queue_ns
