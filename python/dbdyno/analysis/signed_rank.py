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

# With 5 blocks the smallest two-sided p value is 2/2^5 = 0.0625: nothing could ever be found at 5 %.
MINIMUM_BLOCKS = 6

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def p_value(differences: Sequence[float]) -> float | None:
    """Two-sided p value of "no difference"; None with fewer than 6 differences."""
    if len(differences) < MINIMUM_BLOCKS:
        return None
    values = np.asarray(differences, dtype=np.float64)
    ranks = _doubled_ranks(np.abs(values))
    positive_sum = int(ranks[values > 0].sum())
    probabilities = _sum_distribution(ranks[values != 0])
    lower_tail = float(probabilities[: positive_sum + 1].sum())
    upper_tail = float(probabilities[positive_sum:].sum())
    return min(1.0, 2.0 * min(lower_tail, upper_tail))


def hodges_lehmann(values: Sequence[float]) -> float:
    """The pseudo-median: the median of the means of all pairs, each value with itself included."""
    return float(np.median(_walsh_averages(values)))


def interval(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float] | None:
    """Exact interval of the pseudo-median, at least `confidence` wide; None with fewer than 6 values."""
    if len(values) < MINIMUM_BLOCKS:
        return None
    averages = _walsh_averages(values)
    cumulative = np.cumsum(_sum_distribution(np.arange(1, len(values) + 1)))
    outside = int(np.searchsorted(cumulative, (1.0 - confidence) / 2.0, side="right")) - 1
    if outside < 0:  # even the widest interval that these few values allow is too narrow
        return None
    return float(averages[outside]), float(averages[-1 - outside])


def _walsh_averages(values: Sequence[float]) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    first, second = np.triu_indices(len(array))
    return np.sort((array[first] + array[second]) / 2.0)


def _doubled_ranks(magnitudes: Floats) -> Integers:
    """Mean ranks times two, so that halves are whole numbers."""
    _, place, counts = np.unique(magnitudes, return_inverse=True, return_counts=True)
    below = np.cumsum(counts) - counts
    doubled: Integers = (2 * below + counts + 1).astype(np.int64)[place]
    return doubled


def _sum_distribution(ranks: Integers) -> Floats:
    """P(sum = s) for s = 0, 1, ...: each rank is in the sum or not, by a fair coin."""
    probabilities = np.zeros(int(ranks.sum()) + 1)
    probabilities[0] = 1.0
    for rank in ranks.tolist():
        halved = probabilities * 0.5
        halved[rank:] += probabilities[:-rank] * 0.5
        probabilities = halved
    return probabilities
