"""Numbers of JSON documents as columns of arrays, those of all trials of an arm at once."""

from __future__ import annotations

import struct
from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]


def integers(numbers: Collection[int]) -> Integers:
    """As an array: a long run has tens of millions of numbers, and struct takes half the time of numpy's own way."""
    return np.frombuffer(struct.pack(f"{len(numbers)}q", *numbers), dtype=np.int64)


def owners(lists: Sequence[Sequence[object]]) -> Integers:
    """For each element of some lists, laid end to end, the place of its list."""
    return np.repeat(np.arange(len(lists)), list(map(len, lists)))
