"""The means of all pairs: those that are asked for, out of a few values or out of many, are the ones of a full sort."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

from dbdyno.analysis import pair_means
from dbdyno.analysis.pair_means import ordered

Values = np.ndarray

SHAPES: dict[str, Callable[[np.random.Generator, int], Values]] = {
    "normal": lambda random, count: random.normal(0.0, 1.0, count),
    "long tails": lambda random, count: random.standard_cauchy(count),
    "one-sided": lambda random, count: random.exponential(1.0, count),
    "rounded": lambda random, count: np.round(random.normal(0.0, 1.0, count), 1),
    "three values": lambda random, count: random.choice([0.0, 1.0, 2.0], count),
    "logs of ratios of counts": lambda random, count: np.log(random.integers(300, 340, count) / 320),
    "all the same": lambda random, count: np.full(count, 0.1),
}


def by_enumeration(values: Values) -> list[float]:
    """All of them, pair by pair."""
    return sorted((one + other) / 2 for one, other in itertools.combinations_with_replacement(values.tolist(), 2))


@pytest.mark.parametrize("count", [1, 2, 7, 12, 199, 200, 201, 313])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_place_is_that_of_the_sorted_pairs(shape: str, count: int) -> None:
    """In the middle, where intervals end, and at both ends; single places and several; to the last bit."""
    values = SHAPES[shape](np.random.default_rng(count), count)
    expected = by_enumeration(values)
    last = len(expected) - 1

    for share in (0.0, 0.001, 0.3, 0.45, 0.5, 0.53, 0.9, 1.0):
        for more in (0, 1, last // 50):
            first = min(int(share * last), last - more) if more <= last else 0
            found = ordered(values.tolist(), first, first + more)
            assert found.tolist() == expected[first : first + more + 1]


def test_many_values_take_no_full_sort(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 1,000 values that differ, the median and the ends of intervals are found between bounds."""
    values = np.random.default_rng(1).normal(0.0, 1.0, 1_000).tolist()
    sorted_means = pair_means._sorted_means
    sizes: list[int] = []

    def counting(some: Values) -> Values:
        sizes.append(len(some))
        return sorted_means(some)

    monkeypatch.setattr(pair_means, "_sorted_means", counting)
    for place in (232_000, 250_250, 268_500):
        ordered(values, place, place)

    assert sizes == [100, 100, 100]
