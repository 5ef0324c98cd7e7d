"""Signed ranks, exactly: scipy where it is exact, whole numbers where ties or zeros make it approximate.

Also what is built upon them: looks at a run before its end (Lan and DeMets), and evidence for any time (a bet).
"""

from __future__ import annotations

import functools
import itertools
import math
import statistics
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import optimize, stats

LEAST = 6

Estimate = dict[str, float | None]


def p_value(differences: Sequence[float]) -> float | None:
    """Of the signed-rank test, two-sided, with Pratt's way with zeros."""
    if len(differences) < LEAST:
        return None
    values = np.asarray(differences)
    if len(np.unique(np.abs(values))) == len(values) and np.all(values != 0):
        return float(stats.wilcoxon(values, method="exact").pvalue)
    doubled = (2 * stats.rankdata(np.abs(values))).astype(int)
    lesser = min(doubled[values > 0].sum(), doubled[values < 0].sum())
    ways = ways_to_sums(tuple(doubled[values != 0].tolist()))
    tail = Fraction(sum(count for total, count in ways.items() if total <= lesser), sum(ways.values()))
    return min(1.0, float(2 * tail))


@functools.cache
def ways_to_sums(ranks: tuple[int, ...]) -> dict[int, int]:
    """In how many ways some of these ranks add up to each sum."""
    ways = {0: 1}
    for rank in ranks:
        with_it = {total + rank: count for total, count in ways.items()}
        ways = {total: ways.get(total, 0) + with_it.get(total, 0) for total in {*ways, *with_it}}
    return ways


def hodges_lehmann(values: Sequence[float]) -> float:
    """The median of the means of all pairs."""
    return statistics.median(_pair_means(values))


def interval(values: Sequence[float], confidence: float) -> tuple[float, float] | None:
    """All shifts that the test does not reject."""
    if len(values) < LEAST:
        return None
    ways = ways_to_sums(tuple(range(1, len(values) + 1)))
    allowed = Fraction((1.0 - confidence) / 2.0) * 2 ** len(values)
    below = list(itertools.accumulate(ways[total] for total in range(len(ways))))
    outside = sum(count <= allowed for count in below) - 1
    means = _pair_means(values)
    return None if outside < 0 else (means[outside], means[-1 - outside])


def _pair_means(values: Sequence[float]) -> list[float]:
    return sorted((one + other) / 2 for one, other in itertools.combinations_with_replacement(values, 2))


def pseudo_median(values: Sequence[float]) -> Estimate:
    """An arm's figure from those of its trials: in logs, unless one is zero or less."""
    logs = min(values) > 0
    scaled = [math.log(value) for value in values] if logs else list(values)
    return estimate(scaled, interval(scaled, 0.95), logs=logs)


def estimate(values: Sequence[float], bounds: tuple[float, float] | None, *, logs: bool) -> Estimate:
    """Three numbers, the logarithm undone."""
    undone = math.exp if logs else float
    low, high = (None, None) if bounds is None else (undone(bound) for bound in bounds)
    return {"estimate": undone(hodges_lehmann(values)), "low": low, "high": high}


class Reading:
    """How the log ratios of a run may be read, which depends on when one looks."""

    def __init__(self, run: dict[str, Any], blocks: int) -> None:
        planned = run.get("looks") or [run["blocks"]]
        self.any_time = bool(run.get("until_decided"))
        self.looks = (*(look for look in planned if look < blocks), blocks)
        self.planned = max(run["blocks"], blocks)

    def p_value(self, differences: Sequence[float]) -> float | None:
        """Two-sided."""
        if self.any_time:
            return _bet_p_value(differences)
        p = p_value(differences)
        if p is None or self.looks == (self.planned,) or p >= 1:
            return p
        return _of_whole_plan(p, self.looks, self.planned)

    def ratio(self, logs: Sequence[float], confidence: float) -> Estimate:
        """Pseudo-median and interval."""
        if self.any_time:
            return estimate(logs, _bet_interval(logs, confidence), logs=True)
        level = 1.0 - confidence
        if self.looks != (self.planned,):
            level = level_of_last_look(level, self.looks, self.planned)
        return estimate(logs, interval(logs, 1.0 - level), logs=True)


# Looks: a Brownian motion in the share of the planned blocks, stopped outside +-bound at each look.

NODES, WEIGHTS = np.polynomial.legendre.leggauss(500)


def level_of_last_look(alpha: float, looks: tuple[int, ...], planned: int) -> float:
    """The two-sided level of the last look."""
    times = [look / planned for look in looks]
    density, left = _before_last(alpha, times)
    bound = _bound(density, times[-1], left)
    return float(2 * stats.norm.sf(bound / math.sqrt(times[-1])))


def _of_whole_plan(p: float, looks: tuple[int, ...], planned: int) -> float:
    """The error rate at which the plan would just reject here."""
    times = [look / planned for look in looks]
    bound = stats.norm.isf(p / 2) * math.sqrt(times[-1])

    def excess(log_alpha: float) -> float:
        density, left = _before_last(math.exp(log_alpha), times)
        return math.log(left) - math.log(_outside(density, times[-1], bound))

    if excess(math.log(0.5)) <= 0:
        return 1.0
    if excess(math.log(1e-15)) >= 0:
        return 1e-15
    return math.exp(optimize.brentq(excess, math.log(1e-15), math.log(0.5), xtol=1e-13, rtol=1e-14))


Density = tuple[float, np.ndarray, np.ndarray]  # time, places, probability of each


def _spent(alpha: float, time: float) -> float:
    return max(1e-300, float(2 * stats.norm.sf(stats.norm.isf(alpha / 2) / math.sqrt(time))))


def _before_last(alpha: float, times: Sequence[float]) -> tuple[Density, float]:
    density: Density = (0.0, np.zeros(1), np.ones(1))
    before = 0.0
    for time in times[:-1]:
        bound = _bound(density, time, max(1e-300, _spent(alpha, time) - before))
        places = NODES * bound
        height = stats.norm.pdf(places[:, None], density[1][None, :], math.sqrt(time - density[0])) @ density[2]
        density = (time, places, height * WEIGHTS * bound)
        before = _spent(alpha, time)
    return density, max(1e-300, _spent(alpha, times[-1]) - before)


def _outside(density: Density, time: float, bound: float) -> float:
    spread = math.sqrt(time - density[0])
    beyond = stats.norm.sf((bound - density[1]) / spread) + stats.norm.sf((bound + density[1]) / spread)
    return float(beyond @ density[2])


def _bound(density: Density, time: float, allowed: float) -> float:
    def excess(bound: float) -> float:
        return math.log(max(_outside(density, time, bound), 1e-320)) - math.log(allowed)

    return float(optimize.brentq(excess, 0.0, 40.0 * math.sqrt(time), xtol=1e-15, rtol=1e-14))


# Evidence for any time: before each block a bet on its sign, by the rank of its magnitude among those so far.


def _bet_p_value(differences: Sequence[float]) -> float | None:
    if len(differences) < LEAST:
        return None
    capital = max(_capital(differences), _capital([-value for value in differences]))
    return min(1.0, 2.0 / capital)


def _capital(values: Sequence[float]) -> float:
    """That of one who bets on plus."""
    capital = 1.0
    for place, value in enumerate(values):
        so_far = np.abs(values[: place + 1])
        rank = stats.rankdata(so_far)[-1]
        x = math.copysign(rank / (place + 2), value) if value else 0.0
        capital *= math.exp(x) / math.cosh(x)
    return capital


def _bet_interval(values: Sequence[float], confidence: float) -> tuple[float, float] | None:
    """The ends are means of two values; between two of them next to each other the capital does not change."""
    if len(values) < LEAST:
        return None
    low = _lowest_not_excluded(list(values), confidence)
    high = _lowest_not_excluded([-value for value in values], confidence)
    return None if low is None or high is None else (low, -high)


def _lowest_not_excluded(values: list[float], confidence: float) -> float | None:
    means = sorted(set(_pair_means(values)))
    inside = [means[0] - 1, *((a + b) / 2 for a, b in itertools.pairwise(means)), means[-1] + 1]
    kept = [_capital([value - shift for value in values]) < 2 / (1 - confidence) for shift in inside]
    return None if kept[0] else means[kept.index(True) - 1]
