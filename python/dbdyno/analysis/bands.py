"""Bands of response times: the slowest 1 %, the middle fifth, or any other, over all units of an arm.

Response times were kept in bins (4.7 % wide with 50 a decade), so a band reaches from one edge of a bin to another:
to the edges whose shares of units are nearest to what was asked for, and at least over one bin with units in it.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from dbdyno.analysis.columns import Integers
from dbdyno.analysis.snapshots import Cells


@dataclasses.dataclass(frozen=True, slots=True)
class Share:
    """A band as it is asked for: from one share of the units, ordered by response time, to another."""

    low: float
    high: float


SLOWEST = Share(0.99, 1.0)
# The middle fifth: median units, and enough of them to have snapshots.
MIDDLE = Share(0.4, 0.6)


@dataclasses.dataclass(frozen=True, slots=True)
class Edges:
    """The bins of a band, and what they are: shares of all units, and ns (None where the band is open)."""

    bins: Integers
    share: float
    low_ns: float | None
    high_ns: float | None


def edges(cells: Cells, asked: Share) -> Edges:
    """The bins nearest to the shares that were asked for."""
    units = np.bincount(cells.bin, cells.sums[:, 0])
    filled = np.flatnonzero(units)
    cumulated = np.concatenate([[0.0], np.cumsum(units[filled])]) / units.sum()
    # cumulated[k] is the share of units below the k-th filled bin; the band is bins first to last - 1.
    first = int(np.abs(cumulated[:-1] - asked.low).argmin())
    last = first + 1 + int(np.abs(cumulated[first + 1 :] - asked.high).argmin())
    return Edges(
        bins=filled[first:last],
        share=float(cumulated[last] - cumulated[first]),
        low_ns=None if first == 0 else _edge_ns(int(filled[first]), cells),
        high_ns=None if last == len(filled) else _edge_ns(int(filled[last - 1]) + 1, cells),
    )


def _edge_ns(number: int, cells: Cells) -> float:
    return float(10.0 ** (number / cells.bins_per_decade))
