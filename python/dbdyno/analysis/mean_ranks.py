"""Ranks of values in ascending order, from 1; equal values share the mean of theirs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def doubled_ranks(values: Floats) -> Integers:
    """Mean ranks times two, so that halves are whole numbers."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    below = np.cumsum(counts) - counts
    doubled: Integers = (2 * below + counts + 1).astype(np.int64)[place.ravel()]
    return doubled
