"""The dip against the reference implementation, and its p value against what uniform samples really do."""

from __future__ import annotations

import diptest
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbdyno.analysis.calibration.dip import dip_of_bins, dip_of_values, p_value


def reference(values: np.ndarray) -> float:
    """Of sorted values; never less than half a step of their distribution function, as Hartigans have it."""
    return float(diptest.dipstat(np.asarray(values, dtype=np.float64), allow_zero=False))


def samples() -> list[np.ndarray]:
    """Of many shapes and sizes, without ties."""
    random = np.random.default_rng(20261122)
    made = []
    for size in (4, 5, 7, 10, 31, 100, 1000):
        made += [
            random.random(size),
            random.normal(size=size),
            random.exponential(size=size),
            random.standard_cauchy(size),
        ]
        made.append(np.concatenate([random.normal(0, 1, size // 2), random.normal(6, 2, size - size // 2)]))
        made.append(random.random(size) ** 3 + np.arange(size) % 3)
    return made


def test_the_dip_is_that_of_the_reference() -> None:
    """42 samples of one, two and three peaks, from 4 to 1000 values."""
    for values in map(np.sort, samples()):
        assert dip_of_values(values) == pytest.approx(reference(values), rel=1e-9)


@given(st.lists(st.integers(-50, 50), min_size=4, max_size=30, unique=True))
def test_the_dip_of_any_sample_is_that_of_the_reference(values: list[int]) -> None:
    """Whole numbers, where many slopes are equal."""
    assert dip_of_values(sorted(values)) == pytest.approx(reference(np.sort(values)), rel=1e-9)


def test_weights_are_repeated_values() -> None:
    """Three times the same value is one value of weight 3."""
    values, weights = [1.0, 2.0, 3.5, 7.0, 7.5], [3, 1, 2, 2, 4]

    assert dip_of_values(values, weights) == dip_of_values(np.repeat(values, weights))


@pytest.mark.parametrize("counts", [[1], [1, 2, 3, 3, 2], [5, 4, 4, 1], [1, 1, 1, 1], [0, 0, 7, 3, 0]])
def test_bins_with_one_peak_have_no_dip(counts: list[int]) -> None:
    """However coarse the bins: nothing is made of the steps between them."""
    assert dip_of_bins(np.arange(len(counts) + 1), counts) == pytest.approx(0.0, abs=1e-12)


def test_two_equal_bins_apart_have_the_dip_of_two_masses() -> None:
    """Far apart they are two masses of one half: the nearest distribution with one peak is a quarter of all away."""
    near, far = (dip_of_bins([0.0, 1.0, gap, gap + 1.0], [1, 0, 1]) for gap in (3.0, 1e6))

    assert 0 < near < far == pytest.approx(0.25, abs=1e-6)


def test_bins_have_the_dip_of_values_laid_evenly_in_them() -> None:
    """50 histograms of 2 to 40 bins, some empty: as the reference finds for 20,000 values, to the step of one value."""
    random = np.random.default_rng(20261122)
    for _ in range(50):
        counts = random.poisson(random.exponential(10.0, random.integers(2, 41)))
        counts[0] += 1
        edges = np.arange(len(counts) + 1.0)
        at = (np.arange(20_000) + 0.5) / 20_000 * counts.sum()
        summed = np.concatenate([[0], counts.cumsum()])
        place = np.searchsorted(summed, at, side="left") - 1
        laid = edges[place] + (at - summed[place]) / counts[place]

        assert dip_of_bins(edges, counts) == pytest.approx(reference(laid), abs=1 / 20_000)


def test_many_narrow_bins_have_the_dip_of_their_values() -> None:
    """50 bins a decade and 5,000 response times of two modes: within a twentieth of what the values have."""
    random = np.random.default_rng(3)
    logs = np.sort(np.concatenate([random.normal(5.1, 0.09, 3000), random.normal(5.6, 0.09, 2000)]))
    edges = np.arange(220, 330) / 50
    counts, _ = np.histogram(logs, edges)

    assert dip_of_bins(edges, counts) == pytest.approx(dip_of_values(logs), rel=0.05)


@pytest.mark.parametrize("size", [20, 50, 200, 2000, 20_000])
def test_p_values_are_those_of_the_reference(size: int) -> None:
    """Of two normal modes that are more and more apart, wherever p is between 50 % and 0.5 %: within a seventh.

    The reference's table has fewer samples, and it interpolates p itself where this one interpolates its logarithm.
    """
    halves = np.random.default_rng(7).normal(size=size)
    compared = 0
    for apart in np.linspace(0.0, 4.0, 161):
        dip, wanted = diptest.diptest(np.sort(halves + apart * (np.arange(size) % 2)))
        if 0.005 <= wanted <= 0.5:
            compared += 1
            assert p_value(dip, size) == pytest.approx(wanted, rel=1 / 7)

    assert compared >= 2


def test_the_p_value_of_nothing_is_one() -> None:
    """No dip, or too few values; and one beyond the table is not below what the table knows."""
    assert p_value(0.0, 1000.0) == 1.0
    assert p_value(0.2, 5.0) == 1.0
    assert p_value(0.25, 1e6) == pytest.approx(5e-5)


@pytest.mark.nightly
@pytest.mark.parametrize("size", [12, 90, 700, 20_000])
def test_uniform_samples_are_rarely_called_otherwise(size: int) -> None:
    """Of 4,000 samples of sizes that are not in the table p is below 1 % in 1 % (0.55 to 1.5 %: 3 standard errors)."""
    random = np.random.default_rng(20261122)
    dips = [diptest.dipstat(np.sort(random.random(size)), sort_x=False) for _ in range(4_000)]
    called = np.mean([p_value(dip, size) < 0.01 for dip in dips])

    assert 0.0055 <= called <= 0.015
