"""All times of a profile, as finely as anything is asked of it, for the profile itself and for each draw.

A *leaf* is a session, query, state and event. Arrays are `[draw, leaf]`; draw 0 is the profile itself. Whatever is
asked (the CPU of a query, the time of a user in one event) is a sum over leaves, made for all draws at once, so that
every figure has its interval and two figures can be compared draw by draw.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from dbdyno.analysis.server_profile.division import Division, Spans, Strata, divide
from dbdyno.analysis.server_profile.findings import TimeParts
from dbdyno.analysis.server_profile.resample import Draws
from dbdyno.analysis.server_profile.snapshots import ACTIVE, Flags, Floats, Ints, Snapshots, sums_by


@dataclasses.dataclass(frozen=True, slots=True)
class Leaves:
    """The columns of the leaves and their times; `seen_ns` is what snapshots say, the others divide exact clocks."""

    process: Ints
    session: Ints
    query: Ints
    state: Ints
    event: Ints
    seen_ns: Floats
    asleep_ns: Floats
    cpu_ns: Floats
    run_queue_ns: Floats
    no_clock_ns: Floats
    rows: Snapshots
    draws: Draws
    has_clocks: bool

    @property
    def active(self) -> Flags:
        """Leaves that are database time."""
        flags: Flags = self.state == ACTIVE
        return flags

    def parts(self, chosen: Flags) -> dict[str, Floats]:
        """The database time of the chosen leaves part by part, for each draw; the parts sum to what was seen."""
        chosen = chosen & self.active
        events = self.rows.events
        found: dict[str, Floats] = {}
        if self.has_clocks:
            found["cpu"] = self.cpu_ns[:, chosen].sum(axis=1)
            found["run_queue"] = self.run_queue_ns[:, chosen].sum(axis=1)
        for event in np.unique(self.event[chosen]):
            ns = self.asleep_ns[:, chosen & (self.event == event)].sum(axis=1)
            name = part_of(events[event])
            found[name] = found[name] + ns if name in found else ns
        found["no_clock"] = self.no_clock_ns[:, chosen].sum(axis=1)
        found["unaccounted"] = self.seen_ns[:, chosen].sum(axis=1) - sum(found.values())
        return found

    def time_parts(self, chosen: Flags) -> TimeParts:
        """The profile's own parts of the chosen leaves, the greatest wait first."""
        return time_parts({part: float(ns[0]) for part, ns in self.parts(chosen).items()}, has_clocks=self.has_clocks)

    def database_time(self, chosen: Flags) -> Floats:
        """The active time seen in the chosen leaves, for each draw."""
        total: Floats = self.seen_ns[:, chosen & self.active].sum(axis=1)
        return total


NOT_WAITS = frozenset({"cpu", "run_queue", "asleep_no_wait_event", "client_and_network", "no_clock", "unaccounted"})


def part_of(event: str) -> str:
    """The part of a profile that sleep in an event belongs to."""
    if event == "":
        return "asleep_no_wait_event"
    return "client_and_network" if event.startswith("Client:") else event


def time_parts(ns: dict[str, float], *, has_clocks: bool) -> TimeParts:
    """The parts as a record."""
    waits = {part: value for part, value in ns.items() if part not in NOT_WAITS and value > 0}
    return TimeParts(
        cpu=ns.get("cpu", 0.0) if has_clocks else None,
        run_queue=ns.get("run_queue", 0.0) if has_clocks else None,
        waits=dict(sorted(waits.items(), key=lambda item: (-item[1], item[0]))),
        asleep_no_wait_event=ns.get("asleep_no_wait_event", 0.0),
        client_and_network=ns.get("client_and_network", 0.0),
        no_clock=ns.get("no_clock", 0.0),
        unaccounted=ns.get("unaccounted", 0.0),
    )


def leaves(rows: Snapshots, drawn: Draws, strata: Strata, spans: Spans) -> tuple[Leaves, Division]:
    """The leaves of all draws, and the division of the rows themselves."""
    keys = np.stack([rows.process, rows.query, rows.state, rows.event])
    columns, leaf = np.unique(keys, axis=1, return_inverse=True)
    leaf = leaf.ravel()
    count = columns.shape[1]
    times = np.zeros((5, len(drawn.weights), count))
    own: Division | None = None
    for draw, weights in enumerate(drawn.weights):
        weight = weights[drawn.of_row]
        division = _divided(rows, weight, strata, spans)
        own = own or division
        kinds = (rows.ns, division.asleep_ns, division.cpu_ns, division.run_queue_ns, division.no_clock_ns)
        for kind, ns in enumerate(kinds):
            times[kind, draw] = sums_by(leaf, ns * weight, count)
    assert own is not None
    leaders = np.array([process.leader for process in rows.processes], dtype=np.int64)
    return Leaves(
        process=columns[0],
        session=leaders[columns[0]] if count else columns[0],
        query=columns[1],
        state=columns[2],
        event=columns[3],
        seen_ns=times[0],
        asleep_ns=times[1],
        cpu_ns=times[2],
        run_queue_ns=times[3],
        no_clock_ns=times[4],
        rows=rows,
        draws=drawn,
        has_clocks=bool(np.isfinite(rows.cpu_ns).any()),
    ), own


def _divided(rows: Snapshots, weight: Floats, strata: Strata, spans: Spans) -> Division:
    looked = sums_by(strata.of_row, rows.looked * weight, len(strata.prior))
    asleep = sums_by(strata.of_row, rows.asleep * weight, len(strata.prior))
    return divide(rows, strata.share_asleep(looked, asleep)[strata.of_row], spans)
