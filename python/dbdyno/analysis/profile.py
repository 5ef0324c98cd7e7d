"""The time profile of an arm, per unit of work.

The identity: queue + CPU + run queue + waits + asleep without a wait event + client and network + unaccounted
= response time. It holds exactly in each trial's integers, hence for their sums over an arm's trials;
dividing by the units leaves rounding in the last digit of a float.

The server's clocks cannot tell a unit that succeeded from one that failed, so a profile is the mean over all counted
units that ended; where none failed, these are the successful ones.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from dbdyno.analysis.columns import Integers
from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import TimeProfile
from dbdyno.analysis.resampling import Floats, Resampling

# The parts that every profile has, before and after its waits.
BEFORE = ("queue", "cpu", "run_queue")
AFTER = ("asleep_no_wait_event", "client_and_network", "unaccounted")


@dataclasses.dataclass(frozen=True, slots=True)
class PartSums:
    """The parts of a profile trial by trial: a row a trial, a column a part; `units` are those that are in them."""

    parts: list[str]
    ns: Integers
    units: Integers

    def means(self, resampling: Resampling) -> Floats:
        """Each part of a unit, for the trials as they are (first row) and in each replicate."""
        ns, units = resampling.totals_of_each([self.ns.astype(np.float64), self.units.astype(np.float64)])
        return ns / units[:, None]

    def profile(self) -> TimeProfile:
        """The mean profile of a unit that ended, over all the trials."""
        units = int(self.units.sum())
        mean = {part: ns / units for part, ns in zip(self.parts, self.ns.sum(axis=0).tolist(), strict=True)}
        profile = TimeProfile(
            queue=mean["queue"],
            cpu=mean.get("cpu"),
            run_queue=mean.get("run_queue"),
            waits={part: ns for part, ns in mean.items() if part not in BEFORE + AFTER},
            asleep_no_wait_event=mean["asleep_no_wait_event"],
            client_and_network=mean["client_and_network"],
            unaccounted=mean["unaccounted"],
        )
        total = int(self.ns.sum()) / units
        assert math.isclose(profile.total, total, rel_tol=1e-9), (profile.total, total)
        return profile


def parts_by_trial(trials: Sequence[Document]) -> PartSums:
    """The sums that a profile is made of, in the order of its parts: waits the greatest first.

    CPU and run queue are left out where any trial lacks the server's clocks, because a mean over some trials would
    not add up with the parts of all; what the other trials had there is then unaccounted.
    """
    profiles = [trial["outcome"]["profile"] for trial in trials]
    named = {part: _column([profile[f"{part}_ns"] or 0 for profile in profiles]) for part in BEFORE + AFTER}
    events = dict.fromkeys(event for profile in profiles for event in profile["waits_ns"])
    waits = {event: _column([profile["waits_ns"].get(event, 0) for profile in profiles]) for event in events}
    _assert_identity([*named.values(), *waits.values()], profiles)
    if any(profile["cpu_ns"] is None for profile in profiles):
        named["unaccounted"] += named.pop("cpu") + named.pop("run_queue")
    order = [
        *(part for part in BEFORE if part in named),
        *sorted(waits, key=lambda event: (-waits[event].sum(), event)),
        *AFTER,
    ]
    return PartSums(
        parts=order,
        ns=np.stack([{**named, **waits}[part] for part in order], axis=1),
        units=_column([_started(trial["outcome"]["units"]) for trial in trials]),
    )


def _column(values: Sequence[int]) -> Integers:
    return np.array(values, dtype=np.int64)


def _started(units: Document) -> int:
    """Counted units that are in the profile: all but the skipped ones."""
    return int(units["successful"] + units["failed"])


def _assert_identity(columns: Sequence[Integers], profiles: Sequence[Document]) -> None:
    for parts_ns, profile in zip(np.sum(columns, axis=0).tolist(), profiles, strict=True):
        total_ns = profile["total_ns"]
        assert parts_ns == total_ns, f"a time profile's parts sum to {parts_ns} ns, its response times to {total_ns} ns"
