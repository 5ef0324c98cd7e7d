"""The means of all pairs of some values, each value with itself included (Walsh averages), in order.

A thousand values have half a million of them, and an estimate with its interval asks for four. So of many values only
those means are made that lie near the ones asked for: between two bounds that every 16th value or so suggests. The
values being sorted, each of them has the others that it meets between the bounds in one row.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# With fewer values it is quicker to sort the means of all pairs.
MANY = 200
# The bounds come from so many of the values, and leave out all but about so large a part of the means.
SUGGESTING = 100
BETWEEN = 0.02


def ordered(values: Sequence[float], first: int, last: int) -> Floats:
    """The means from one place in their order to another, counted from 0, both included."""
    found = None if len(values) < MANY else _between_bounds(np.sort(np.asarray(values)), first, last)
    return _all(tuple(values))[first : last + 1] if found is None else found


@functools.lru_cache(maxsize=2)  # estimate and intervals of one effect are asked for one after another
def _all(values: tuple[float, ...]) -> Floats:
    """All of them."""
    return _sorted_means(np.asarray(values, dtype=np.float64))


def _sorted_means(values: Floats) -> Floats:
    """All of them.

    With the values around a circle, a pair is one of them and its neighbour some places on, at most half way round;
    half way round, of an even number, each pair would come twice.
    """
    count = len(values)
    circle = np.concatenate([values, values])
    neighbours = np.lib.stride_tricks.sliding_window_view(circle, count)[: count // 2 + 1]
    means: Floats = ((neighbours + values) / 2.0).ravel()[: count * (count + 1) // 2]
    means.sort()
    return means


def _between_bounds(ascending: Floats, first: int, last: int) -> Floats | None:
    """The means asked for; None where the bounds were no good, because many means are alike or far from each other."""
    count = len(ascending)
    step = count // SUGGESTING
    suggested = _sorted_means(ascending[step // 2 :: step])
    per_mean = len(suggested) / (count * (count + 1) / 2)
    margin = BETWEEN / 2 * len(suggested)
    low = suggested[max(int(first * per_mean - margin), 0)]
    high = suggested[min(int(last * per_mean + margin), len(suggested) - 1)]

    # In each row the pairs that are not below, up to those that are above.
    rows = np.arange(count)
    begins = np.maximum(np.searchsorted(ascending, 2.0 * low - ascending), rows)
    ends = np.maximum(np.searchsorted(ascending, 2.0 * high - ascending, side="right"), begins)
    lengths = ends - begins
    row = np.repeat(rows, lengths)
    column = np.arange(len(row)) + np.repeat(begins - np.cumsum(lengths) + lengths, lengths)
    means: Floats = (ascending[row] + ascending[column]) / 2.0
    means.sort()
    below = int((begins - rows).sum())
    found = means[max(first - below, 0) : max(last - below + 1, 0)]

    # A pair whose mean is a bound, but for rounding, may have been put on either side of it.
    rounding = 8 * np.finfo(np.float64).eps * max(abs(ascending[0]), abs(ascending[-1]))
    inside = len(found) == last - first + 1 and first >= below and low + rounding < found[0]
    return found if inside and found[-1] < high - rounding else None
