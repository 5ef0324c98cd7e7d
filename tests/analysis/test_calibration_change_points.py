"""A planted change of level is found where it is; noise that remembers, outliers and slow waves are none."""

from __future__ import annotations

import numpy as np
import pytest
import simulated_storage as simulated

from dbdyno.analysis.calibration.change_points import Level, levels

LENGTHS = (60, 120, 300, 600, 1200)


def clean(random: np.random.Generator, steps: int, correlation: float = 0.6, noise: float = 0.1) -> np.ndarray:
    """Throughput around 1000 with noise that remembers, and one step in a hundred that is far out."""
    series = 1000 * (1 + noise * simulated.ar1(random, steps, correlation))
    series[random.random(steps) < 0.01] *= 0.2
    return np.maximum(series, 0.0)


def alarms(steps: int, correlation: float, runs: int) -> int:
    """In how many clean series a change is seen."""
    random = np.random.default_rng(20261122)
    return sum(len(levels(clean(random, steps, correlation))) > 1 for _ in range(runs))


def located(steps: int, runs: int, drop: float = 1 / 3) -> int:
    """In how many runs one drop is found, within two steps of where it is."""
    random = np.random.default_rng(20261122)
    count = 0
    for _ in range(runs):
        series = clean(random, steps)
        at = int(random.integers(steps // 5, 4 * steps // 5))
        series[at:] *= drop
        found = levels(series)
        count += len(found) == 2 and abs(found[1].first_step - at) <= 2
    return count


@pytest.mark.parametrize("steps", LENGTHS)
def test_clean_series_have_no_change(steps: int) -> None:
    """At most 1 false alarm in 20, of 40 series with a correlation of 0.6, noise of 10 % and outliers."""
    assert alarms(steps, 0.6, 40) <= 2


@pytest.mark.parametrize("steps", LENGTHS)
def test_a_drop_to_a_third_is_found_in_its_place(steps: int) -> None:
    """Within two steps, in 19 of 20."""
    assert located(steps, 40) >= 38


def test_levels_are_means_of_all_steps() -> None:
    """Outliers are put aside for the search, not for the levels."""
    series = np.repeat([1000.0, 400.0, 700.0], 30) + np.tile([5.0, -5.0], 45)
    series[10] += 3000.0

    assert levels(series) == [Level(0, 30, 1100.0), Level(30, 30, 400.0), Level(60, 30, 700.0)]


@pytest.mark.parametrize("level", [0.0, 250.0])
def test_a_constant_has_no_change(level: float) -> None:
    """Not even nothing at all."""
    assert levels([level] * 100) == [Level(0, 100, level)]


def test_a_change_of_less_than_a_tenth_does_not_matter() -> None:
    """However certain it is; 12 % does."""
    quiet = np.tile([1.0, -1.0], 100)

    assert len(levels(quiet + np.repeat([1000.0, 920.0], 100))) == 1
    assert len(levels(quiet + np.repeat([1000.0, 880.0], 100))) == 2


def test_nineteen_steps_are_too_few() -> None:
    """Nothing is said of them."""
    assert levels([1.0] * 19) == []


@pytest.mark.nightly
@pytest.mark.parametrize("steps", LENGTHS)
@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.6, 0.75])
def test_clean_series_have_no_change_in_a_thousand(steps: int, correlation: float) -> None:
    """At most 5 of 100."""
    assert alarms(steps, correlation, 1_000) <= 50


@pytest.mark.nightly
@pytest.mark.parametrize("steps", LENGTHS)
def test_a_drop_to_a_third_is_found_in_a_thousand(steps: int) -> None:
    """At least 95 of 100."""
    assert located(steps, 1_000) >= 950
