"""All times of a profile, as finely as anything is asked of it, for the profile itself and for each draw.

A *leaf* is a session, query, state and event. Arrays are `[draw, leaf]`; draw 0 is the profile itself. Whatever is
asked (the CPU of a query, the time of a user in one event) is a sum over leaves, made for all draws at once, so that
every figure has its interval and two figures can be compared draw by draw.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from scipy import sparse

from dbdyno.analysis.server_profile.division import Division, Spans, Strata, divide
from dbdyno.analysis.server_profile.findings import TimeParts
from dbdyno.analysis.server_profile.resample import Draws
from dbdyno.analysis.server_profile.sensitivity import sensitivity
from dbdyno.analysis.server_profile.snapshots import ACTIVE, Flags, Floats, Ints, Snapshots


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
    columns, leaf = np.unique(np.stack([rows.process, rows.query, rows.state, rows.event]), axis=1, return_inverse=True)
    leaf, shape = leaf.ravel(), (columns.shape[1], len(strata.prior))
    shares = _shares_asleep(rows, drawn, strata)
    of_row = shares[0][strata.of_row]
    own = divide(rows, of_row, spans)
    slopes = sensitivity(rows, of_row, spans, leaf, strata.of_row, shape)
    moved = shares - shares[0]

    def drawn_ns(ns: Floats, slope: Any = None) -> Floats:
        """The rows' times in each draw, and what the shares asleep of that draw add to them or take away."""
        times: Floats = drawn.weights @ _by_unit(drawn, leaf, ns, shape[0])
        return times if slope is None else np.maximum(times + (slope @ moved.T).T, 0.0)

    leaders = np.array([process.leader for process in rows.processes], dtype=np.int64)
    return Leaves(
        process=columns[0],
        session=leaders[columns[0]] if shape[0] else columns[0],
        query=columns[1],
        state=columns[2],
        event=columns[3],
        seen_ns=drawn_ns(rows.ns),
        asleep_ns=drawn_ns(own.asleep_ns, slopes.asleep),
        cpu_ns=drawn_ns(own.cpu_ns, slopes.cpu),
        run_queue_ns=drawn_ns(own.run_queue_ns, slopes.run_queue),
        no_clock_ns=drawn_ns(own.no_clock_ns, slopes.no_clock),
        rows=rows,
        draws=drawn,
        has_clocks=bool(np.isfinite(rows.cpu_ns).any()),
    ), own


def _shares_asleep(rows: Snapshots, drawn: Draws, strata: Strata) -> Floats:
    """Of each draw and stratum."""
    count = len(strata.prior)
    looked = drawn.weights @ _by_unit(drawn, strata.of_row, rows.looked, count)
    asleep = drawn.weights @ _by_unit(drawn, strata.of_row, rows.asleep, count)
    return strata.share_asleep(looked, asleep)


def _by_unit(drawn: Draws, number: Ints, values: Any, count: int) -> Any:
    """The values added up by unit of drawing and by number, sparse."""
    shape = (drawn.weights.shape[1], count)
    return sparse.csr_matrix((np.asarray(values, dtype=np.float64), (drawn.of_row, number)), shape=shape)
