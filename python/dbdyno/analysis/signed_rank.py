"""Wilcoxon's signed-rank test, exact, and the Hodges-Lehmann estimate with its exact interval.

In: one number a block, here the log ratio of an arm to its baseline.
The order of arms within a block was drawn at random, so if the arm makes no difference each sign is a fair coin,
whatever the machine did meanwhile: drift, autocorrelation and outliers do not spoil the test.

Ties and zeros: equal magnitudes share their mean rank.
A zero takes part in the ranking and then takes no side (Pratt 1959), so a run of exact equalities weakens the
evidence instead of vanishing from it.
The p value conditions on the ranks that were seen, hence it is exact with ties and zeros too.

The interval inverts the test: Hollander & Wolfe, "Nonparametric Statistical Methods", sections 3.1 to 3.3.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dbdyno.analysis.mean_ranks import doubled_ranks
from dbdyno.analysis.pair_means import ordered
from dbdyno.analysis.sign_flips import lower_tail, without_ties

# With 5 blocks the smallest two-sided p value is 2/2^5 = 0.0625: nothing could ever be found at 5 %.
MINIMUM_BLOCKS = 6

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def p_value(differences: Sequence[float]) -> float | None:
    """Two-sided p value of "no difference"; None with fewer than 6 differences."""
    if len(differences) < MINIMUM_BLOCKS:
        return None
    values = np.asarray(differences, dtype=np.float64)
    ranks = doubled_ranks(np.abs(values))
    unit = int(np.gcd.reduce(ranks))  # 2 where no mean rank is a half
    lesser_sum = int(min(ranks[values > 0].sum(), ranks[values < 0].sum())) // unit
    return min(1.0, 2.0 * lower_tail(np.sort(ranks[values != 0]) // unit, lesser_sum))


def hodges_lehmann(values: Sequence[float]) -> float:
    """The pseudo-median: the median of the means of all pairs, each value with itself included."""
    means = len(values) * (len(values) + 1) // 2
    lower, upper = ordered(values, (means - 1) // 2, means // 2)[[0, -1]]
    return float((lower + upper) / 2.0)


def interval(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float] | None:
    """Exact interval of the pseudo-median, at least `confidence` wide; None with fewer than 6 values."""
    if len(values) < MINIMUM_BLOCKS:
        return None
    outside = int(np.searchsorted(without_ties(len(values)), (1.0 - confidence) / 2.0, side="right")) - 1
    if outside < 0:  # even the widest interval that these few values allow is too narrow
        return None
    greatest = len(values) * (len(values) + 1) // 2 - 1
    low, high = (float(ordered(values, place, place)[0]) for place in (outside, greatest - outside))
    return low, high
