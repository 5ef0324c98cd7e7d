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
from collections import Counter
from collections.abc import Sequence

import numpy as np

from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import TimeProfile
from dbdyno.analysis.resampling import Floats


def time_profile(trials: Sequence[Document]) -> TimeProfile:
    """The mean profile of a unit that ended, over all the trials of an arm.

    CPU and run queue are None where any trial lacks the server's clocks, because a mean over some trials would
    not add up with the parts of all; what the other trials had there is then unaccounted.
    """
    outcomes = [trial["outcome"] for trial in trials]
    units = sum(_started(outcome["units"]) for outcome in outcomes)
    waits_ns: Counter[str] = Counter()
    for outcome in outcomes:
        _assert_identity(outcome["profile"])
        waits_ns.update(outcome["profile"]["waits_ns"])

    def mean(part: str) -> float:
        return float(sum(outcome["profile"][part] or 0 for outcome in outcomes) / units)

    clocks = all(outcome["profile"]["cpu_ns"] is not None for outcome in outcomes)
    profile = TimeProfile(
        queue=mean("queue_ns"),
        cpu=mean("cpu_ns") if clocks else None,
        run_queue=mean("run_queue_ns") if clocks else None,
        waits={event: ns / units for event, ns in sorted(waits_ns.items(), key=lambda item: (-item[1], item[0]))},
        asleep_no_wait_event=mean("asleep_no_wait_event_ns"),
        client_and_network=mean("client_and_network_ns"),
        unaccounted=mean("unaccounted_ns") + (0.0 if clocks else mean("cpu_ns") + mean("run_queue_ns")),
    )
    assert math.isclose(profile.total, mean("total_ns"), rel_tol=1e-9), (profile.total, mean("total_ns"))
    return profile


@dataclasses.dataclass(frozen=True, slots=True)
class PartSums:
    """The parts of a profile trial by trial: a row a trial, a column a part; `units` are those that are in them."""

    parts: list[str]
    ns: Floats
    units: Floats


def parts_by_trial(trials: Sequence[Document]) -> PartSums:
    """What `time_profile` divides by the units, before it is summed over trials."""
    parts = list(time_profile(trials).parts())
    rows = [time_profile([trial]).parts() for trial in trials]
    units = np.array([float(_started(trial["outcome"]["units"])) for trial in trials])
    per_unit = np.array([[row.get(part, 0.0) for part in parts] for row in rows])
    if "cpu" not in parts:  # some trial lacks the clocks: what the others know is unaccounted, too
        per_unit[:, parts.index("unaccounted")] += [row.get("cpu", 0.0) + row.get("run_queue", 0.0) for row in rows]
    return PartSums(parts, per_unit * units[:, None], units)


def _started(units: Document) -> int:
    """Counted units that are in the profile: all but the skipped ones."""
    return int(units["successful"] + units["failed"])


def _assert_identity(profile: Document) -> None:
    known = ("queue_ns", "cpu_ns", "run_queue_ns", "asleep_no_wait_event_ns", "client_and_network_ns", "unaccounted_ns")
    parts = sum(profile[part] or 0 for part in known) + sum(profile["waits_ns"].values())
    total = profile["total_ns"]
    assert parts == total, f"a time profile's parts sum to {parts} ns, its response times to {total} ns"
