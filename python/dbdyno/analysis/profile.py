"""The time profile of an arm, per unit of work, and why two arms differ.

The identity: queue + CPU + run queue + waits + asleep without a wait event + client and network + unaccounted
= response time. It holds exactly in each trial's integers, hence for their sums over an arm's trials;
dividing by the units leaves rounding in the last digit of a float.

The server's clocks cannot tell a unit that succeeded from one that failed, so a profile is the mean over all counted
units that ended; where none failed, these are the successful ones.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Estimate, Reason, TimeProfile


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


def why(arm: TimeProfile, baseline: TimeProfile, *, arm_rows: int = 1, baseline_rows: int = 1) -> list[Reason]:
    """What changed, part by part, the greatest change first; the differences sum to that of the totals.

    Where arms are compared per row, so are their profiles: give the rows of one unit of each.
    """
    arm_parts = {part: ns / arm_rows for part, ns in arm.parts().items()}
    baseline_parts = {part: ns / baseline_rows for part, ns in baseline.parts().items()}
    baseline_total = sum(baseline_parts.values())
    reasons = [
        Reason(
            part=part,
            baseline_ns=baseline_parts.get(part, 0.0),
            arm_ns=arm_parts.get(part, 0.0),
            difference_ns=arm_parts.get(part, 0.0) - baseline_parts.get(part, 0.0),
            difference=Estimate(arm_parts.get(part, 0.0) - baseline_parts.get(part, 0.0), None, None),
            p_value=None,
            told=True,
            baseline_share=baseline_parts.get(part, 0.0) / baseline_total,
        )
        for part in {**baseline_parts, **arm_parts}
    ]
    return sorted(reasons, key=lambda reason: -abs(reason.difference_ns))


def _started(units: Document) -> int:
    """Counted units that are in the profile: all but the skipped ones."""
    return int(units["successful"] + units["failed"])


def _assert_identity(profile: Document) -> None:
    known = ("queue_ns", "cpu_ns", "run_queue_ns", "asleep_no_wait_event_ns", "client_and_network_ns", "unaccounted_ns")
    parts = sum(profile[part] or 0 for part in known) + sum(profile["waits_ns"].values())
    total = profile["total_ns"]
    assert parts == total, f"a time profile's parts sum to {parts} ns, its response times to {total} ns"
