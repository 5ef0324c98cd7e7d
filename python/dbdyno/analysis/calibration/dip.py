"""Hartigans' dip: how far a distribution is from the nearest one with a single peak (Hartigan and Hartigan 1985).

The dip is the greatest distance between the distribution function F and the unimodal one G that is nearest to it; G is
convex up to its mode and concave from there. It is found as in their section 4 (and Hartigan 1985, AS 217): the modal
interval starts as the whole range; within it the greatest convex minorant and the least concave majorant of F are
drawn; where they are furthest apart the interval is narrowed, until that makes nothing worse outside of it.

Two forms of F, one algorithm: it only asks how far F reaches down and up at each knot.

    raw values     F jumps at each value: down to the sum of the weights before it, up to the sum with its own
    bins           F rises evenly within a bin, without jumps: the counts of a bin are spread over its width. So bins
                   and ties are no peaks by themselves, nothing is jittered, and a distribution with one peak stays so

The p value is that of a uniform sample of n values, the least favourable distribution with one peak that matters here.
Its quantiles are read from a table of 500,000 simulated samples a size (tests/dip_quantiles.py makes it); sqrt(n) x dip
hardly depends on n, so sizes between are interpolated in 1 / sqrt(n). Values in bins have a slightly smaller dip than
raw ones, which is on the safe side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dbdyno.analysis.calibration.dip_quantiles import PROBABILITIES, SIZES, SQRT_N_DIPS
from dbdyno.analysis.calibration.log_bins import Floats, Integers


def dip_of_values(values: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> float:
    """The dip of sorted values; equal ones are one value of their common weight."""
    sorted_values = np.asarray(values, dtype=np.float64)
    each = np.ones(len(sorted_values)) if weights is None else np.asarray(weights, dtype=np.float64)
    knots, first = np.unique(sorted_values, return_index=True)
    upper = np.add.reduceat(each, first).cumsum()
    return _dip(knots, np.concatenate([[0.0], upper[:-1]]) / upper[-1], upper / upper[-1])


def dip_of_bins(edges: npt.ArrayLike, weights: npt.ArrayLike) -> float:
    """The dip of weights that are spread evenly within their bins; there is one edge more than there are bins."""
    summed = np.concatenate([[0.0], np.cumsum(np.asarray(weights, dtype=np.float64))])
    reached = summed / summed[-1]
    return _dip(np.asarray(edges, dtype=np.float64), reached, reached)


def p_value(dip: float, size: float) -> float:
    """The chance of at least this dip in so many values with one peak; not below 1 in 20,000: there the table ends.

    Args:
        dip: of the sample.
        size: how many independent values of equal weight it is worth.
    """
    if size < SIZES[0]:
        return 1.0
    known = -1 / np.sqrt(SIZES)
    quantiles = [np.interp(-1 / math.sqrt(size), known, of_sizes) for of_sizes in SQRT_N_DIPS]
    log_tails = np.log(1 - np.asarray(PROBABILITIES))
    return float(np.exp(np.interp(math.sqrt(size) * dip, [0.0, *quantiles], [0.0, *log_tails])))


def _dip(knots: Floats, lower: Floats, upper: Floats) -> float:
    """Half the greatest distance outside the modal interval, which is narrowed until it makes no difference."""
    first, last = 0, len(knots) - 1
    distance = float((upper - lower).max())
    while True:
        x, down, up = (some[first : last + 1] for some in (knots, lower, upper))
        convex, concave = _hull(x, down, 1.0), _hull(x, up, -1.0)
        minorant = np.interp(x, x[convex], down[convex])
        majorant = np.interp(x, x[concave], up[concave])
        left, right, apart = _furthest(convex, concave, majorant - minorant)
        if apart <= distance:
            return distance / 2
        outside = max(
            float((up - minorant)[: left + 1].max()),
            float((majorant - down)[right:].max()),
        )
        distance = max(distance, outside)
        if (left, right) == (0, len(x) - 1):
            return distance / 2
        first, last = first + left, first + right


def _furthest(convex: Integers, concave: Integers, gaps: Floats) -> tuple[int, int, float]:
    """Where minorant and majorant are furthest apart at a knot of one of them, and that knot's neighbour on the other.

    The new modal interval reaches from a knot of the minorant to a knot of the majorant.
    """
    at_convex, at_concave = gaps[convex], gaps[concave]
    if at_convex.max() >= at_concave.max():
        left = int(convex[at_convex.argmax()])
        return left, int(concave[np.searchsorted(concave, left)]), float(at_convex.max())
    right = int(concave[at_concave.argmax()])
    return int(convex[np.searchsorted(convex, right, side="right") - 1]), right, float(at_concave.max())


def _hull(x: Floats, y: Floats, side: float) -> Integers:
    """The places of the knots of the lower (side 1) or upper (side -1) convex hull, from left to right."""
    xs, ys = x.tolist(), (side * y).tolist()
    hull: list[int] = []
    for place in range(len(xs)):
        while len(hull) > 1 and not _turns_up(xs, ys, hull[-2], hull[-1], place):
            hull.pop()
        hull.append(place)
    return np.asarray(hull)


def _turns_up(xs: Sequence[float], ys: Sequence[float], before: int, middle: int, after: int) -> bool:
    """Whether the slope grows at the middle one of three knots."""
    grown = (ys[after] - ys[middle]) * (xs[middle] - xs[before])
    return grown > (ys[middle] - ys[before]) * (xs[after] - xs[middle])
