"""The exact test and its interval against scipy, brute force, and the symmetries they must have."""

from __future__ import annotations

import itertools
import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dbdyno.analysis.signed_rank import hodges_lehmann, interval, p_value

differences = st.lists(st.floats(-10, 10).map(lambda x: round(x, 3)), min_size=6, max_size=25)


@pytest.mark.parametrize("count", [6, 7, 8, 10, 12, 20, 30, 50, 120, 200])
def test_p_value_equals_scipy_exact(count: int) -> None:
    """Without ties scipy's exact distribution is the same one."""
    for seed in range(20):
        values = np.random.default_rng(seed).normal(0.1, 1.0, count)

        assert p_value(values.tolist()) == pytest.approx(stats.wilcoxon(values, method="exact").pvalue, rel=1e-9)


@pytest.mark.parametrize("seed", range(15))
def test_p_value_with_ties_and_zeros_equals_the_full_permutation(seed: int) -> None:
    """With ties and zeros: all 2^n sign flips of Pratt's ranks, as scipy enumerates them."""
    values = np.random.default_rng(seed).integers(-4, 6, 10).astype(float)
    every_flip = stats.PermutationMethod(n_resamples=np.inf)

    expected = stats.wilcoxon(values, zero_method="pratt", method=every_flip).pvalue

    assert p_value(values.tolist()) == pytest.approx(expected, rel=1e-9)


def test_p_value_of_equal_pairs_is_one() -> None:
    """No difference anywhere is no evidence."""
    assert p_value([0.0] * 8) == 1.0


@pytest.mark.parametrize(("count", "expected"), [(6, 2 / 2**6), (8, 2 / 2**8), (200, 2 / 2**200)])
def test_smallest_p_value(count: int, expected: float) -> None:
    """All differences on one side: one flip in 2^n on each side is as extreme."""
    assert p_value([1.0 + place for place in range(count)]) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("count", range(1, 6))
def test_fewer_than_six_say_nothing(count: int) -> None:
    """Five blocks can never reject at 5 %, so neither test nor interval is offered."""
    values = [1.0 + place for place in range(count)]

    assert p_value(values) is None
    assert interval(values) is None


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=30))
def test_hodges_lehmann_is_the_median_of_all_pair_means(values: list[float]) -> None:
    """Against a direct enumeration of the pairs."""
    means = [(a + b) / 2 for a, b in itertools.combinations_with_replacement(values, 2)]

    assert hodges_lehmann(values) == pytest.approx(statistics.median(means), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("confidence", [0.90, 0.95, 0.99])
@pytest.mark.parametrize("count", [8, 13, 30])
def test_interval_holds_just_what_the_test_does_not_reject(count: int, confidence: float) -> None:
    """The interval is the inverted test: inside p > alpha, outside p <= alpha (scipy's p)."""
    values = np.random.default_rng(count).normal(0.0, 1.0, count)

    low, high = interval(values.tolist(), confidence) or (math.nan, math.nan)

    def rejected(shift: float) -> bool:
        return bool(stats.wilcoxon(values - shift, method="exact").pvalue <= 1 - confidence)

    assert [rejected(low - 1e-9), rejected(low + 1e-9)] == [True, False]
    assert [rejected(high - 1e-9), rejected(high + 1e-9)] == [False, True]


def test_interval_of_six_spans_all_values() -> None:
    """With six blocks the exact 95 % interval (96.9 %) runs from the least to the greatest."""
    assert interval([3.0, 1.0, 2.0, 6.0, 4.0, 5.0]) == (1.0, 6.0)


def test_too_few_values_for_the_confidence_give_no_interval() -> None:
    """Six values reach 96.9 % at most."""
    assert interval([3.0, 1.0, 2.0, 6.0, 4.0, 5.0], 0.99) is None


@given(differences)
def test_swapping_the_sides_changes_only_the_sign(values: list[float]) -> None:
    """Arm against baseline or baseline against arm: same p, mirrored estimate and interval."""
    mirrored = [-value for value in values]
    low, high = interval(values) or (math.nan, math.nan)

    assert p_value(mirrored) == pytest.approx(p_value(values))
    assert hodges_lehmann(mirrored) == pytest.approx(-hodges_lehmann(values))
    assert interval(mirrored) == pytest.approx((-high, -low))


@given(differences, st.floats(-5, 5), st.floats(0.1, 5))
def test_estimate_follows_shift_and_scale(values: list[float], shift: float, scale: float) -> None:
    """Move and stretch all values: estimate and interval move and stretch with them."""
    moved = [value * scale + shift for value in values]
    low, high = interval(values) or (math.nan, math.nan)

    assert hodges_lehmann(moved) == pytest.approx(hodges_lehmann(values) * scale + shift, abs=1e-9)
    assert interval(moved) == pytest.approx((low * scale + shift, high * scale + shift), abs=1e-9)


@given(differences, st.randoms(use_true_random=False))
def test_order_does_not_matter(values: list[float], random) -> None:  # type: ignore[no-untyped-def]
    """Blocks may be listed in any order."""
    shuffled = random.sample(values, len(values))

    assert p_value(shuffled) == p_value(values)
    assert interval(shuffled) == interval(values)
    assert hodges_lehmann(shuffled) == hodges_lehmann(values)
