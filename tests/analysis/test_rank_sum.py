"""The exact test of two samples against scipy, a full enumeration, and the symmetries that it must have."""

from __future__ import annotations

import itertools
import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dbdyno.analysis import rank_sum
from dbdyno.analysis.rank_sum import interval, p_value, shift

SIZES = [(6, 6), (6, 15), (12, 12), (15, 6), (12, 30), (60, 60), (100, 7), (100, 100)]
samples = st.lists(st.floats(-10, 10).map(lambda x: round(x, 3)), min_size=6, max_size=15)


def drawn(first: int, second: int, seed: int, moved: float = 0.5) -> tuple[list[float], list[float]]:
    """Two normal samples, the second one moved."""
    random = np.random.default_rng(seed)
    return random.normal(0, 1, first).tolist(), random.normal(moved, 1, second).tolist()


@pytest.mark.parametrize(("first", "second"), SIZES)
def test_p_value_equals_scipy_exact(first: int, second: int) -> None:
    """Without ties scipy's exact distribution is the same one."""
    for seed in range(3):
        one, two = drawn(first, second, seed, moved=1.0 / math.sqrt(min(first, second)))

        assert p_value(one, two) == pytest.approx(
            stats.mannwhitneyu(one, two, method="exact").pvalue, rel=1e-12, abs=1e-12
        )


def enumerated(one: list[float], two: list[float]) -> float:
    """Every way to deal the pooled mid-ranks to two samples of these sizes."""
    ranks = stats.rankdata([*one, *two])
    seen = ranks[len(one) :].sum()
    sums = np.array([sum(chosen) for chosen in itertools.combinations(ranks, len(two))])
    return min(1.0, 2.0 * min(float((sums <= seen).mean()), float((sums >= seen).mean())))


@pytest.mark.parametrize("seed", range(8))
def test_p_value_with_ties_equals_the_full_enumeration(seed: int) -> None:
    """Mid-ranks, and the distribution of just these ranks."""
    random = np.random.default_rng(seed)
    one, two = random.integers(0, 5, 7).astype(float).tolist(), random.integers(1, 7, 9).astype(float).tolist()

    assert p_value(one, two) == pytest.approx(enumerated(one, two), rel=1e-12)


@pytest.mark.parametrize("other", [1.0, 2.0])
def test_all_values_alike(other: float) -> None:
    """Equal everywhere is no evidence; two constants far apart are all that so many values can say."""
    expected = 1.0 if other == 1.0 else 2 / math.comb(12, 6)

    assert p_value([1.0] * 6, [other] * 6) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("few", range(1, 6))
def test_fewer_than_six_in_either_say_nothing(few: int) -> None:
    """As within a run."""
    many = [float(place) for place in range(20)]

    assert p_value(many[:few], many) is None
    assert p_value(many, many[:few]) is None
    assert interval(many[:few], many) is None


@pytest.mark.parametrize("confidence", [0.90, 0.95, 0.99])
@pytest.mark.parametrize(("first", "second"), [(6, 6), (8, 13), (30, 30)])
def test_interval_holds_just_what_the_test_does_not_reject(first: int, second: int, confidence: float) -> None:
    """The interval is the inverted test: inside p > alpha, outside p <= alpha (scipy's p)."""
    one, two = drawn(first, second, seed=first)
    low, high = interval(one, two, confidence) or (math.nan, math.nan)

    def rejected(moved: float) -> bool:
        back = [value - moved for value in two]
        return bool(stats.mannwhitneyu(one, back, method="exact").pvalue <= 1 - confidence)

    assert [rejected(low - 1e-9), rejected(low + 1e-9)] == [True, False]
    assert [rejected(high - 1e-9), rejected(high + 1e-9)] == [False, True]


def test_too_few_values_for_the_confidence_give_no_interval() -> None:
    """Six and six reach 1 - 2 / C(12, 6) = 99.78 % at most."""
    one, two = drawn(6, 6, seed=1)
    differences = [b - a for a in one for b in two]

    assert interval(one, two, 0.9978) == pytest.approx((min(differences), max(differences)))
    assert interval(one, two, 0.9979) is None


def test_beyond_a_hundred_the_normal_approximation_takes_over() -> None:
    """scipy's asymptotic p value with ties and continuity corrected, and an interval close to the exact one."""
    one, two = drawn(150, 120, seed=4, moved=0.3)
    rounded = [round(value, 1) for value in one], [round(value, 1) for value in two]
    low, high = interval(one, two) or (math.nan, math.nan)

    def p_at(moved: float) -> float:
        back = [value - moved for value in two]
        return float(stats.mannwhitneyu(one, back, method="exact").pvalue)

    assert not rank_sum.is_exact(150, 120)
    assert p_value(*rounded) == pytest.approx(stats.mannwhitneyu(*rounded, method="asymptotic").pvalue, rel=1e-9)
    assert [p_at(low), p_at(high)] == pytest.approx([0.05, 0.05], abs=0.001)
    assert p_value([1.0] * 101, [1.0] * 101) == 1.0


def test_approximate_and_exact_agree_where_one_takes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """At 100 + 100 values p differs by less than 0.001 and, near 0.05, by less than 0.0003; the interval hardly."""
    for seed in range(10):
        one, two = drawn(100, 100, seed, moved=0.27)
        exact, ends = p_value(one, two), interval(one, two)
        with monkeypatch.context() as patched:
            patched.setattr(rank_sum, "MOST_EXACT", 99)
            assert p_value(one, two) == pytest.approx(exact, abs=0.0003 if 0.02 < (exact or 0) < 0.1 else 0.001)
            assert interval(one, two) == pytest.approx(ends, abs=0.001)


@given(samples, samples)
def test_shift_is_the_median_of_all_pairs(one: list[float], two: list[float]) -> None:
    """Against a direct enumeration."""
    assert shift(one, two) == pytest.approx(statistics.median(b - a for a in one for b in two), abs=1e-12)


@given(samples, samples)
def test_swapping_the_samples_changes_only_the_sign(one: list[float], two: list[float]) -> None:
    """A against B or B against A: the same p, mirrored shift and interval."""
    low, high = interval(one, two) or (math.nan, math.nan)

    assert p_value(two, one) == pytest.approx(p_value(one, two))
    assert shift(two, one) == pytest.approx(-shift(one, two))
    assert interval(two, one) == pytest.approx((-high, -low))


@given(samples, samples, st.randoms(use_true_random=False))
def test_order_does_not_matter(one: list[float], two: list[float], random) -> None:  # type: ignore[no-untyped-def]
    """To the last bit."""
    shuffled = random.sample(one, len(one)), random.sample(two, len(two))

    assert p_value(*shuffled) == p_value(one, two)
    assert shift(*shuffled) == shift(one, two)
    assert interval(*shuffled) == interval(one, two)
