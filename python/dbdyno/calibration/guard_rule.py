"""When a guarded service suffers: the rule, without clock, thread or server.

Ten times a second an answer is due. A response time runs from the moment at which the probe was due, so that a stall of
a second counts as the ten slow answers that everybody else had meanwhile, and not as one.

The usual is what three quarters of the answers in a baseline of 10 s did not exceed. The service suffers when

- more than half of the answers of the last 3 s took longer than `factor` times the usual, and than 10 ms; or
- more than a fifth of those of the last 10 s took longer than `factor` times the usual, and than 50 ms.

The floors keep a service that answers within microseconds from crying wolf at a millisecond. A stall of half a second,
as a checkpoint or a hypervisor makes it, is 5 slow answers of 30 and of 100: it stops nothing; one of 1.6 s does.

Windows, shares and the quantile were chosen among a dozen variants on one model of a service that nobody disturbs
(neighbours alike, 1 % of slow answers, pauses of half a second once a minute, 300 series of 5 minutes: with the median
and 2 s up to 81 were stopped, with a tenth of 10 s 171; with the 90th percentile, which one pause in the baseline
moves, up to 28 services that had become slow were missed). What it does on draws that took no part in the choice, at
medians of 0.2, 5 and 30 ms, of 1,000 each:

| model                                                    | stopped in 5 min | 10 x slower, missed in 4 s |
|----------------------------------------------------------|------------------|----------------------------|
| the same                                                 | 6, 8, 10         | 0, 2, 1                    |
| slow drift, heavy tail, pauses of up to 1 s, every 40 s  | 156, 244, 188    | 0, 13, 11                  |

So a service that is restless by itself is often taken for one that suffers.
"""

from __future__ import annotations

import dataclasses
import math
from collections import deque
from collections.abc import Sequence

PROBES_PER_S = 10
MS = 1_000_000
USUAL_FACTOR = 3.0
USUAL_SHARE = 0.75


@dataclasses.dataclass(frozen=True, slots=True)
class Limit:
    """More than `share` of the last `answers` slower than this is too much."""

    response_time_ns: int
    usual_ns: int
    answers: int
    share: float

    def exceeded_by(self, response_times_ns: Sequence[int]) -> str | None:
        """What was seen, in words; None where all is well."""
        recent = response_times_ns[-self.answers :]
        slow = sum(each > self.response_time_ns for each in recent)
        if slow <= self.share * self.answers:
            return None
        return (
            f"{slow} of its last {len(recent)} answers took more than {_ms(self.response_time_ns)} "
            f"(usual: 3 of 4 within {_ms(self.usual_ns)})"
        )


def limits(baseline_ns: Sequence[int], factor: float) -> tuple[Limit, Limit]:
    """From the response times of the undisturbed service."""
    usual_ns = sorted(baseline_ns)[math.ceil(USUAL_SHARE * len(baseline_ns)) - 1]
    too_slow_ns = round(factor * usual_ns)
    return (
        Limit(max(10 * MS, too_slow_ns), usual_ns, 3 * PROBES_PER_S, 0.5),
        Limit(max(50 * MS, too_slow_ns), usual_ns, 10 * PROBES_PER_S, 0.2),
    )


class GuardRule:
    """Takes response times in their order, those of the baseline first."""

    def __init__(self, baseline_ns: Sequence[int], factor: float) -> None:
        self.limits = limits(baseline_ns, factor)
        self._recent = deque(baseline_ns, maxlen=max(limit.answers for limit in self.limits))

    def add(self, response_time_ns: int) -> None:
        """One more answer."""
        self._recent.append(response_time_ns)

    def suffering(self, waiting_ns: Sequence[int] = ()) -> str | None:
        """What is wrong, or None. `waiting_ns`: how long those have waited so far that are due and not answered."""
        seen = [*self._recent, *waiting_ns]
        return next((words for limit in self.limits if (words := limit.exceeded_by(seen)) is not None), None)


def _ms(ns: int) -> str:
    return f"{ns / MS:.3g} ms"
