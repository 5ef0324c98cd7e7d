"""Intervals of profiles hold the truth as often as they promise; the long form is nightly."""

from __future__ import annotations

import pytest
from coverage_of_intervals import coverage


def test_intervals_hold_the_truth() -> None:
    """The mean over all figures of 40 arms: uncorrected intervals would reach 0.91 at best."""
    held = coverage(trials=12, repeats=40)

    assert 0.93 <= sum(held.values()) / len(held) <= 0.98


@pytest.mark.nightly
@pytest.mark.parametrize(("trials", "least"), [(8, 0.92), (12, 0.93), (30, 0.93)])
def test_each_figure_is_held_95_times_in_100(trials: int, least: float) -> None:
    """2000 arms, each figure by itself; chance alone takes it half a point from 95 %, and few trials one more."""
    held = coverage(trials, repeats=2_000)

    assert {figure: share for figure, share in held.items() if not least <= share <= 0.97} == {}
