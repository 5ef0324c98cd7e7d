"""Profiles with error bars: of the mean unit, of the slowest, of a statement.

Part names are those of a `TimeProfile`; a band's profile has no `unaccounted`, unless the server's clocks are unknown.
"""

from __future__ import annotations

import dataclasses

from dbdyno.analysis.findings.estimates import Estimate
from dbdyno.analysis.findings.profile import Part


@dataclasses.dataclass(frozen=True, slots=True)
class Intervals:
    """The parts of the mean profile with their intervals, the greatest first.

    `resampled` says what the intervals were made of: `trials`, or, with fewer than 6 of them, `chunks`, which know
    little of what differs from trial to trial. `clusters` is how many there were.
    """

    resampled: str
    clusters: int
    parts: list[Part]


@dataclasses.dataclass(frozen=True, slots=True)
class Band:
    """The units whose response times lie between two edges, over all trials of an arm.

    `from_share` and `to_share` are what was asked for (0.99 to 1.0: the slowest 1 %); response times were kept in bins,
    so the band reaches from one edge of a bin to another and holds `share` of the units. An edge is None where the
    band is open.
    `parts` sum to `response_time_ns`; empty where there were too few snapshots to divide it.
    `runnable_from` says whose exact clocks split CPU from run queue: the `band`'s or the `arm`'s; `states_from` whose
    looks tell sleep from the rest: the `band`'s, the `arm`'s, or `both` (rare events the arm's).
    """

    from_share: float
    to_share: float
    share: float
    low_ns: float | None
    high_ns: float | None
    units: int
    snapshots: int
    response_time_ns: float
    parts: list[Part]
    runnable_from: str | None
    states_from: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class ExtraPart:
    """One part of the time that slow units take beyond median ones; `share` is of the whole extra time.

    A part that slow units have less of is negative.

    `p_value` is that of "no difference", simultaneous over all parts; `told`: it is below 5 %.
    """

    part: str
    ns: Estimate
    share: Estimate
    p_value: float | None
    told: bool
    rank_group: int
    note: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class Tail:
    """Why the slowest units are slow: their profile beside that of the median ones, and the difference by parts.

    `answer` is `told`, or `too_few_snapshots`: then there are the times, but `extra` is empty.
    `sentence` says it in words. `extra` has the parts that explain most first.
    """

    answer: str
    sentence: str
    slow: Band
    median: Band
    extra_ns: Estimate
    extra: list[ExtraPart]
    resampled: str
    clusters: int


@dataclasses.dataclass(frozen=True, slots=True)
class StatementTimes:
    """One statement of a script: the exact time it took, and its parts by snapshots, both per unit of work of the arm.

    `executions_per_unit` counts executions in successful units; `service_time_ns_mean` is of one execution.
    `parts` is empty where there were too few snapshots.
    """

    script: str
    line: int
    text: str
    executions_per_unit: float
    service_time_ns_mean: float
    ns_per_unit: float
    snapshots: int
    parts: list[Part]
