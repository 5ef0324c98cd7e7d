"""Evidence that may be looked at after every block: a bet against "no difference" that nobody can win in the long run.

The order of a block is drawn at random, so under "no difference" the sign of its log ratio is a fair coin, whatever its
magnitude and whatever was before. Before each sign is seen the bettor puts a share of his capital on plus that grows
with how large the magnitude is among those so far:

    x = sign x rank of the magnitude among the blocks so far / (blocks so far + 1)
    capital after the block = capital before x exp(x) / cosh(x)

A fair coin makes the mean of that factor exactly 1. So the capital is a non-negative martingale, and the chance that it
ever reaches 1 / p is at most p (Ville 1939): the p value 1 / capital holds whenever one stops, for whatever reason.
Bets on sequential ranks: Vovk and Wang, "Nonparametric e-tests of symmetry", arXiv 2208.08925.
Of stakes from 0.3 to 2.4 and mixtures of them, 1 found effects of 2 and 3 % soonest within 60 blocks.

Both sides are bet on with half of the capital each. x falls when all differences are lowered, so the interval of what
cannot be excluded is one piece, and its ends are means of two differences as those of the signed-rank interval are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from dbdyno.analysis.signed_rank import MINIMUM_BLOCKS

Floats = npt.NDArray[np.float64]


def p_value(differences: Sequence[float]) -> float | None:
    """Two-sided p value of "no difference", in the order of the blocks; None with fewer than 6."""
    if len(differences) < MINIMUM_BLOCKS:
        return None
    steps = _steps(np.asarray(differences, dtype=np.float64))
    return min(1.0, 2.0 * math.exp(-max(_log_capital(steps), _log_capital(-steps))))


def interval(differences: Sequence[float], confidence: float = 0.95) -> tuple[float, float] | None:
    """All shifts that the p value does not exclude; None with fewer than 6 blocks, or where one side is open."""
    if len(differences) < MINIMUM_BLOCKS:
        return None
    values = np.asarray(differences, dtype=np.float64)
    excluded = math.log(2.0 / (1.0 - confidence))
    low = _first(values, lambda shift: _log_capital(_steps(values - shift)) < excluded)
    high = _first(-values, lambda shift: _log_capital(_steps(-values - shift)) < excluded)
    return None if low is None or high is None else (low, -high)


def _first(values: Floats, holds: Callable[[float], bool]) -> float | None:
    """The mean of two values from which on `holds` is true; None where it is true below all of them already."""
    means = np.unique((values[:, None] + values[None, :]) / 2.0)
    between = np.concatenate([[means[0] - 1.0], (means[:-1] + means[1:]) / 2.0, [means[-1] + 1.0]])
    if holds(between[0]):
        return None
    false, true = 0, len(means)
    while true - false > 1:
        middle = (false + true) // 2
        if holds(float(between[middle])):
            true = middle
        else:
            false = middle
    return float(means[true - 1])


def _steps(values: Floats) -> Floats:
    """x of each block; a zero bets on nothing, equal magnitudes share their mean rank."""
    magnitudes = np.abs(values)
    count = len(values)
    earlier = np.tri(count, k=-1, dtype=np.bool_)
    smaller = (magnitudes[None, :] < magnitudes[:, None]) & earlier
    equal = (magnitudes[None, :] == magnitudes[:, None]) & earlier
    ranks = 1.0 + smaller.sum(axis=1) + 0.5 * equal.sum(axis=1)
    steps: Floats = np.sign(values) * ranks / np.arange(2, count + 2)
    return steps


def _log_capital(steps: Floats) -> float:
    """exp(x) / cosh(x) = 2 / (1 + exp(-2x))."""
    return float(np.sum(math.log(2.0) - np.log1p(np.exp(-2.0 * steps))))
