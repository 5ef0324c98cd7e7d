"""Looks at a run before its end: how much of the 5 % each may spend, so that all together spend no more.

The error that may be spent until a share `t` of the planned blocks is (Lan and DeMets 1983, in the form that is
nearly O'Brien and Fleming's)

    alpha(t) = 2 - 2 Phi(z(1 - alpha / 2) / sqrt(t))

so an early look needs strong evidence and the last one costs little: with looks at 12, 18, 24 and 30 of 30 blocks the
levels are 0.0019, 0.0109, 0.0245 and 0.0391.

The level of a look is found by recursion (Armitage, McPherson and Rowe 1969): the statistic moves like a Brownian
motion in `t`; its density among the runs that no look has stopped yet is carried from look to look.
That signed ranks move so is an approximation, which the proving ground measures; with one look at the end it is not
used, and the test is exact.

A p value of a look is turned into one of the whole plan: the smallest error rate with which the plan would reject here
(Jennison and Turnbull 2000, "Group sequential methods", section 9.5). So 0.05 keeps its meaning, Holm's
correction applies as to any other p value, and an interval at the level of the look holds at every look.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

Floats = npt.NDArray[np.float64]

# Nodes to a standard deviation of the step between two looks: 6 give each level to 1e-12 (test_spending.py has twice
# as many).
NODES_PER_STEP = 6
# Their number grows in strides, since finding nodes takes longer than using them.
NODES_AT_ONCE = 64


def _normal(deviation: Floats) -> Floats:
    density: Floats = np.exp(-0.5 * deviation**2) / math.sqrt(2.0 * math.pi)
    return density


@dataclasses.dataclass(frozen=True, slots=True)
class _Alive:
    """The density of the statistic, on the scale of a Brownian motion, in the runs that no look has stopped."""

    time: float
    nodes: Floats
    mass: Floats

    def beyond(self, bound: float, time: float) -> float:
        """The probability of having come so far and being outside +-bound at `time`."""
        step = math.sqrt(time - self.time)
        outside = ndtr((self.nodes - bound) / step) + ndtr((-bound - self.nodes) / step)
        return float(self.mass @ outside)

    def bound(self, time: float, allowed: float) -> float:
        """Beyond which bound as many would be as are allowed to (Newton, from a bound that is too small)."""
        step = math.sqrt(time - self.time)
        bound = -float(ndtri(min(allowed, 1.0) / 2.0)) * step
        for _ in range(100):
            slope = float(self.mass @ (_normal((self.nodes - bound) / step) + _normal((self.nodes + bound) / step)))
            change = (self.beyond(bound, time) - allowed) * step / slope
            bound += change
            if abs(change) <= 1e-15 * bound:
                break
        return bound

    def until(self, bound: float, time: float) -> _Alive:
        """The density at `time`, inside +-bound."""
        step = math.sqrt(time - self.time)
        nodes, weights = _gauss_legendre(math.ceil(2 * bound / step * NODES_PER_STEP / NODES_AT_ONCE) * NODES_AT_ONCE)
        places = nodes * bound
        distance = (places[:, None] - self.nodes[None, :]) / step
        density = _normal(distance) @ self.mass / step
        return _Alive(time, places, density * weights * bound)


@functools.cache
def _gauss_legendre(count: int) -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return nodes, weights


_START = _Alive(0.0, np.zeros(1), np.ones(1))


def spent(alpha: float, time: float) -> float:
    """The two-sided error that may be spent until a share `time` of the planned blocks."""
    return max(_LEAST, 2.0 * float(ndtr(ndtri(alpha / 2.0) / math.sqrt(time))))


# Nothing is as rare as this, but it has a logarithm.
_LEAST = 1e-300


@functools.lru_cache(maxsize=4096)
def level(alpha: float, looks: tuple[int, ...], planned: int) -> float:
    """The two-sided level of the last of `looks`, in blocks, when all together may spend `alpha` at `planned`."""
    if tuple(looks) == (planned,):
        return alpha
    time = looks[-1] / planned
    alive, left = _before_last(alpha, looks, planned)
    return 2.0 * float(ndtr(-alive.bound(time, left) / math.sqrt(time)))


def _before_last(alpha: float, looks: Sequence[int], planned: int) -> tuple[_Alive, float]:
    """What the looks before the last have left over: the runs that go on, and what the last look may spend."""
    alive, before = _START, 0.0
    for look in looks[:-1]:
        time = look / planned
        until_now = spent(alpha, time)
        alive = alive.until(alive.bound(time, max(_LEAST, until_now - before)), time)
        before = until_now
    return alive, max(_LEAST, spent(alpha, looks[-1] / planned) - before)


@functools.lru_cache(maxsize=4096)
def repeated_p_value(p_value: float, looks: tuple[int, ...], planned: int) -> float:
    """The p value of the whole plan from that of its last look.

    Args:
        p_value: two-sided, of the test at the last of `looks`.
        looks: all looks so far, in blocks, the last one included.
        planned: the blocks at which all may be spent.

    Returns:
        At least 1e-15, and 1 where the plan would not even reject with an error rate of one half.
    """
    if looks == (planned,) or p_value >= 1.0:
        return p_value
    time = looks[-1] / planned
    bound = -float(ndtri(p_value / 2.0)) * math.sqrt(time)

    def excess(log_alpha: float) -> float:
        """By how much the look may spend more than rejecting here takes, as a log; grows with alpha."""
        alive, left = _before_last(math.exp(log_alpha), looks, planned)
        return math.log(left / alive.beyond(bound, time))

    low, high = math.log(1e-15), math.log(0.5)
    if excess(high) <= 0.0:
        return 1.0
    return math.exp(low if excess(low) >= 0.0 else _root(excess, low, high))


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a growing function crosses zero, by false position in the form of Illinois (Dowell and Jarratt 1971)."""
    at_low, at_high = function(low), function(high)
    middle = low
    for _ in range(100):
        middle = (low * at_high - high * at_low) / (at_high - at_low)
        at_middle = function(middle)
        if abs(at_middle) < _ROOT_TOLERANCE:
            break
        if at_middle * at_high < 0.0:
            low, at_low = high, at_high
        else:
            at_low /= 2.0
        high, at_high = middle, at_middle
    return middle


# Of a log: p values are right to 12 digits.
_ROOT_TOLERANCE = 1e-13
