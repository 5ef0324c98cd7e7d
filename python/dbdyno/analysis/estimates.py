"""One figure of an arm from the figures of its trials: a pseudo-median with its 95 % interval.

Speeds and times vary by factors, so the estimate is made on logs; where a figure is zero in some trial
(the queue time of a closed loop is), it is made on the figures themselves.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

from dbdyno.analysis.findings import Estimate, finite
from dbdyno.analysis.signed_rank import hodges_lehmann, interval


def pseudo_median(values: Sequence[float]) -> Estimate:
    """The typical value over trials; low and high are None with fewer than 6."""
    return _pseudo_median(tuple(values))


@functools.lru_cache(maxsize=32)  # where a unit waits in no queue, two clocks and the only script have the same figures
def _pseudo_median(values: tuple[float, ...]) -> Estimate:
    if min(values) <= 0:
        return _estimate(values, confidence=0.95)
    return exponential(_estimate([math.log(value) for value in values], confidence=0.95))


def ratio(log_ratios: Sequence[float], confidence: float = 0.95) -> Estimate:
    """The effect as a ratio, from the log ratio of each block."""
    return exponential(_estimate(log_ratios, confidence))


def difference(differences: Sequence[float]) -> Estimate:
    """The effect as a difference, from that of each block: of shares, which have no ratio where one is zero."""
    return _estimate(differences, confidence=0.95)


def exponential(logs: Estimate) -> Estimate:
    """The same estimate with the logs undone."""
    return Estimate(
        estimate=finite(math.exp(logs.estimate)),
        low=None if logs.low is None else finite(math.exp(logs.low)),
        high=None if logs.high is None else finite(math.exp(logs.high)),
    )


def _estimate(values: Sequence[float], confidence: float) -> Estimate:
    low, high = interval(values, confidence) or (None, None)
    return Estimate(estimate=hodges_lehmann(values), low=low, high=high)
