"""Wilcoxon's rank-sum test, exact, and the Hodges-Lehmann shift with the interval that inverts the test.

In: two independent samples, here the logs of a figure in the trials of two runs.
The test asks whether the pooled values might have been dealt to the two samples by chance: it is exact where the
values of both are exchangeable, which no layout guarantees. Within a run the order of trials was drawn by us; which of
two runs came first was not.

Ties share their mean rank, and the distribution conditions on the ranks that were seen (Lehmann, "Nonparametrics",
section 1.4), hence it is exact with ties too.

    rank sum W of the second sample, over all C(n + m, m) ways to deal the ranks:
    ways(k, s) = in how many ways k of the ranks seen so far sum to s; each further rank r is taken or not:
    ways(k, s) += ways(k - 1, s - r)

The interval takes its ends from the sorted differences of all pairs: Hollander & Wolfe, "Nonparametric Statistical
Methods", sections 4.2 and 4.3. It counts as if there were no ties, which widens it at most.

With more than 100 values in a sample the normal approximation takes over, with the corrections for ties and for
continuity: there p values near 0.05 differ from exact ones by less than 0.0003.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from dbdyno.analysis.mean_ranks import doubled_ranks

# As few as 4 + 4 values could reject at 5 %; the least is that of a run's own verdicts, so that a table has one rule.
MINIMUM_VALUES = 6
# The exact distribution of 100 + 100 values takes 0.2 s without ties, and its cost grows with the fourth power.
MOST_EXACT = 100

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def is_exact(first: int, second: int) -> bool:
    """Whether samples of these sizes are judged by the exact distribution."""
    return max(first, second) <= MOST_EXACT


def p_value(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Two-sided p value of "both are dealt from one pool"; None with fewer than 6 values in either."""
    if min(len(first), len(second)) < MINIMUM_VALUES:
        return None
    doubled = doubled_ranks(np.asarray([*first, *second], dtype=np.float64))
    observed = int(doubled[len(first) :].sum())
    if not is_exact(len(first), len(second)):
        return _normal_p_value(doubled, len(second), observed)
    scale = 2 if not np.any(doubled % 2) else 1  # without half ranks the table is half as wide
    probabilities = _sum_distribution(tuple(np.sort(doubled // scale).tolist()), len(second))
    place = observed // scale
    lower_tail, upper_tail = float(probabilities[: place + 1].sum()), float(probabilities[place:].sum())
    return min(1.0, 2.0 * min(lower_tail, upper_tail))


def shift(first: Sequence[float], second: Sequence[float]) -> float:
    """How far the second sample lies above the first: the median of the differences of all pairs."""
    return float(np.median(_differences(tuple(first), tuple(second))))


def interval(first: Sequence[float], second: Sequence[float], confidence: float = 0.95) -> tuple[float, float] | None:
    """All shifts that the test would not reject; None with fewer than 6 values in either."""
    if min(len(first), len(second)) < MINIMUM_VALUES:
        return None
    outside = _outside(len(first), len(second), (1.0 - confidence) / 2.0)
    if outside < 0:  # even the widest interval that these few values allow is too narrow
        return None
    differences = _differences(tuple(first), tuple(second))
    return float(differences[outside]), float(differences[-1 - outside])


@functools.lru_cache(maxsize=1)
def _differences(first: tuple[float, ...], second: tuple[float, ...]) -> Floats:
    """Sorted, of all pairs; kept, because an estimate and its two intervals ask for the same ones in a row."""
    return np.sort(np.subtract.outer(np.asarray(second, dtype=np.float64), np.asarray(first, dtype=np.float64)), None)


def _outside(first: int, second: int, tail: float) -> int:
    """How many of the sorted differences lie outside on each side: the most whose probability is within `tail`."""
    if is_exact(first, second):
        ranks = tuple(range(1, first + second + 1))
        least = second * (second + 1) // 2
        cumulative = np.cumsum(_sum_distribution(ranks, second)[least:])
        return int(np.searchsorted(cumulative, tail, side="right")) - 1
    deviation = math.sqrt(first * second * (first + second + 1) / 12.0)
    return math.floor(first * second / 2.0 + NormalDist().inv_cdf(tail) * deviation - 0.5)


@functools.lru_cache(maxsize=16)
def _sum_distribution(ranks: tuple[int, ...], chosen: int) -> Floats:
    """P(sum = s) for s = 0, 1, ... where `chosen` of the ascending ranks are drawn, every choice as likely.

    The table counts ways as floating-point numbers: all terms are positive, so nothing cancels, and the relative
    error of a sum stays below 1e-13.
    """
    ways = np.zeros((chosen + 1, sum(ranks[-chosen:]) + 1))
    ways[0, 0] = 1.0
    reach = 0  # no sum is greater so far
    for seen, rank in enumerate(ranks, 1):
        most = min(seen, chosen)
        reach = sum(ranks[seen - most : seen])
        ways[1 : most + 1, rank : reach + 1] += ways[:most, : reach + 1 - rank]
    probabilities: Floats = ways[chosen] / math.comb(len(ranks), chosen)
    return probabilities


def _normal_p_value(doubled: Integers, chosen: int, observed: int) -> float:
    """By the mean and the variance of the rank sum, both exact, ties included."""
    count = len(doubled)
    mean = chosen * float(doubled.mean())
    variance = chosen * (count - chosen) / (count - 1) * float(doubled.var())
    if variance == 0.0:
        return 1.0
    distance = max(0.0, abs(observed - mean) - 1.0)  # half a rank, doubled
    return min(1.0, 2.0 * NormalDist().cdf(-distance / math.sqrt(variance)))
