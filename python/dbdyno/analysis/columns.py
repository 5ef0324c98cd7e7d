"""Numbers of JSON documents as columns of arrays, those of all trials of an arm at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]


def owners(lists: Sequence[Sequence[object]]) -> Integers:
    """For each element of some lists, laid end to end, the place of its list."""
    return np.repeat(np.arange(len(lists)), list(map(len, lists)))
