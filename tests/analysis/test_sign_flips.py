"""The distribution of rank sums: both ways to it against all flips, and against each other where there are too many."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from dbdyno.analysis import sign_flips
from dbdyno.analysis.sign_flips import lower_tail, without_ties
from dbdyno.analysis.signed_rank import p_value

Ranks = np.ndarray

N = 1_000
TIED = {
    "hundredths": lambda random, shift: np.round(random.normal(shift, 1.0, N), 2),
    "tenths": lambda random, shift: np.round(random.normal(shift, 1.0, N), 1),
    "whole numbers": lambda random, shift: np.round(random.normal(shift, 1.0, N)),
    "few magnitudes": lambda random, shift: random.choice([1, 2, 5], N) * np.sign(random.uniform(-1, 1 + shift, N)),
    "one pair": lambda random, shift: np.append(random.normal(shift, 1.0, N - 2), [0.25, -0.25]),
}  # fmt: skip


def doubled_ranks(values: np.ndarray) -> Ranks:
    """Mean ranks times two, sorted, without those of zeros."""
    return np.sort((2 * stats.rankdata(np.abs(values)))[values != 0]).astype(np.int64)


@pytest.mark.parametrize("way", ["counted", "waves"])
@pytest.mark.parametrize("ranks", [[1, 2, 3, 4, 5, 6], [3, 3, 3, 7, 8, 12], [2, 5, 5, 5], [4, 4, 4, 4], [9]])
def test_all_flips(ranks: list[int], way: str) -> None:
    """Every sum to half of the greatest, by both ways, against all 2^n flips."""
    flips = [sum(chosen) for size in range(len(ranks) + 1) for chosen in itertools.combinations(ranks, size)]

    for most in range(sum(ranks) // 2 + 1):
        expected = sum(one <= most for one in flips) / len(flips)
        found = (
            sign_flips._counted(np.array(ranks), most)[most]
            if way == "counted"
            else sign_flips._by_waves(np.array(ranks), most)
        )
        assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("shift", [0.0, 0.05, 0.3, 1.0])
@pytest.mark.parametrize("kind", TIED)
def test_waves_say_what_counting_says(kind: str, shift: float) -> None:
    """1,000 ranks with ties, from no effect at all to a tail of less than 1e-100: the same to 11 digits."""
    values = TIED[kind](np.random.default_rng(5), shift)
    ranks = doubled_ranks(values)
    most = int(min((2 * stats.rankdata(np.abs(values)))[side].sum() for side in (values > 0, values < 0)))

    found = sign_flips._by_waves(ranks, most)

    assert found == pytest.approx(sign_flips._counted(ranks, most)[most], rel=1e-11)
    assert lower_tail(ranks, most) == found


def test_without_ties_and_with_a_single_one() -> None:
    """A tie in 1,000 blocks changes next to nothing, though it is found in the other way."""
    values = np.random.default_rng(6).normal(0.05, 1.0, 1_000)
    tied = values.copy()
    tied[np.argsort(np.abs(values))[1]] = -tied[np.argsort(np.abs(values))[0]]

    assert p_value(tied.tolist()) == pytest.approx(p_value(values.tolist()) or math.nan, rel=1e-3)


@pytest.mark.parametrize("count", [2, 7, 40, 511, 512, 513, 1_100])
def test_the_table_ends_in_the_middle(count: int) -> None:
    """Half of the flips lie below the middle, with half of those that are exactly there."""
    table = without_ties(count)
    in_the_middle = table[-1] - table[-2]
    symmetric = 2 * table[-1] - (in_the_middle if count * (count + 1) // 2 % 2 == 0 else 0.0)

    assert len(table) == count * (count + 1) // 4 + 1
    assert symmetric == pytest.approx(1.0, rel=1e-12)


def test_more_ranks_than_a_float_has_powers_of_two() -> None:
    """2,000 blocks: neither overflow nor a negative chance."""
    values = np.round(np.random.default_rng(7).normal(0.02, 1.0, 2_000), 2)

    found = p_value(values.tolist())

    assert found == pytest.approx(stats.wilcoxon(values, zero_method="pratt", method="asymptotic").pvalue, rel=0.01)
    assert p_value([1.0] * 2_000) == 0.0
