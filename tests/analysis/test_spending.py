"""Levels of looks against an independent integral, and p values of a plan turned back into levels."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from dbdyno.analysis import spending
from dbdyno.analysis.spending import level, repeated_p_value, spent

LOOKS = (12, 18, 24, 30)


def test_the_levels_of_the_default_looks() -> None:
    """Two-sided, of 5 %: close to O'Brien and Fleming's."""
    assert [round(level(0.05, LOOKS[: number + 1], 30), 5) for number in range(4)] == [
        0.00194,
        0.01067,
        0.02421,
        0.03907,
    ]


def test_one_look_at_the_end_has_it_all() -> None:
    """Nothing is corrected, to the last bit."""
    assert level(0.05, (30,), 30) == 0.05
    assert repeated_p_value(0.0123, (30,), 30) == 0.0123


@pytest.mark.parametrize("looks", [LOOKS, (16, 24, 32, 40), (12, 18, 19), (500, 501, 1000)])
def test_all_looks_together_spend_what_they_may(looks: tuple[int, ...]) -> None:
    """The chance to be outside at any look, by Genz's integration of the joint normal distribution."""
    planned = max(looks[-1], 30)
    times = np.array(looks) / planned
    bounds = np.array([norm.isf(level(0.05, looks[: number + 1], planned) / 2) for number in range(len(looks))])
    correlation = np.sqrt(np.minimum.outer(times, times) / np.maximum.outer(times, times))
    joint = multivariate_normal(cov=correlation, seed=1, abseps=1e-8, releps=1e-8, maxpts=2_000_000)

    assert 1 - joint.cdf(bounds, lower_limit=-bounds) == pytest.approx(spent(0.05, times[-1]), abs=2e-6)


def test_more_nodes_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The integral has converged, also where two looks are close to each other."""
    plans = [(LOOKS, 30), ((12, 18, 19), 30), ((299, 300, 500), 1000)]
    found = [level.__wrapped__(0.05, looks, planned) for looks, planned in plans]
    monkeypatch.setattr(spending, "NODES_PER_STEP", 2 * spending.NODES_PER_STEP)

    again = [level.__wrapped__(0.05, looks, planned) for looks, planned in plans]

    assert again == pytest.approx(found, rel=1e-11)


@pytest.mark.parametrize("p", [1e-9, 1e-4, 0.01, 0.0391, 0.2])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_p_value_of_the_plan_is_the_error_rate_with_which_it_would_just_reject(p: float, count: int) -> None:
    """Its level at this look is the p value of the look."""
    found = repeated_p_value(p, LOOKS[:count], 30)

    assert found > p
    assert found == 1.0 or level(found, LOOKS[:count], 30) == pytest.approx(p, rel=1e-11)


def test_p_values_of_a_plan_grow_with_those_of_the_look() -> None:
    """Up to 1; 0.05 is where the level of the look is."""
    found = [repeated_p_value(p, LOOKS[:3], 30) for p in np.geomspace(1e-12, 1.0, 60)]

    assert all(one <= other for one, other in pairwise(found))
    assert found[-1] == 1.0
    assert repeated_p_value(level(0.05, LOOKS[:3], 30), LOOKS[:3], 30) == pytest.approx(0.05, rel=1e-11)


def test_the_earliest_look_at_a_long_plan_has_a_level() -> None:
    """6 of 1,000 blocks: nothing will ever be found there, and nothing fails."""
    assert 0.0 <= level(0.05, (6,), 1000) < 1e-100
    assert repeated_p_value(2 / 2**6, (6,), 1000) == 1.0
    assert math.isfinite(level(0.05, (6, 7, 1000), 1000))
