"""Numbers of JSON documents as columns of arrays, those of all trials of an arm at once.

A long run has tens of millions of numbers in lists of lists, and these three are the quickest ways with them.
"""

from __future__ import annotations

import functools
import operator
import struct
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]


def flattened(lists: Iterable[Sequence[Any]]) -> list[Any]:
    """The elements of all lists, end to end."""
    empty: list[Any] = []
    return functools.reduce(operator.iconcat, lists, empty)


def owners(lists: Sequence[Sequence[Any]]) -> Integers:
    """For each element of some lists, laid end to end, the place of its list."""
    return np.repeat(np.arange(len(lists)), list(map(len, lists)))


def integers(numbers: Sequence[int]) -> Integers:
    """Numbers as an array."""
    return np.frombuffer(struct.pack(f"{len(numbers)}q", *numbers), dtype=np.int64)
