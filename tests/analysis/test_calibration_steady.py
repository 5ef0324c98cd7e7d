"""The SNIA's rule on rounds whose figures are known, and what noise and changes of level add to it."""

from __future__ import annotations

import numpy as np
import pytest
import simulated_storage as simulated

from dbdyno.analysis.calibration.steady import steady_state


def rounds(*averages: float, steps: int = 20) -> np.ndarray:
    """Steps that alternate a little around the average of their round."""
    return np.repeat(averages, steps) + np.tile([1.0, -1.0], steps * len(averages) // 2)


def test_equal_rounds_are_steady() -> None:
    """Range and slope are shares of the average; only the last five rounds count."""
    found = steady_state(rounds(3000.0, 980.0, 1020.0, 1000.0, 1020.0, 980.0), steps_per_round=20)

    assert found is not None
    assert (found.verdict, found.first_step, found.average) == ("steady", 20, 1000.0)
    assert (found.range_share, found.slope_share) == pytest.approx((0.04, 0.0))


@pytest.mark.parametrize(
    ("averages", "range_share", "slope_share"),
    [((940.0, 970.0, 1000.0, 1030.0, 1060.0), 0.12, 0.12), ((1105.0, 1000.0, 895.0, 1000.0, 1000.0), 0.21, 0.084)],
)
def test_a_slope_and_a_range_are_not_steady(
    averages: tuple[float, ...], range_share: float, slope_share: float
) -> None:
    """12 % from end to end of the line; 21 % from the smallest to the greatest round."""
    found = steady_state(rounds(*averages), steps_per_round=20)

    assert found is not None
    assert found.verdict == "unsteady"
    assert (found.range_share, found.slope_share) == pytest.approx((range_share, slope_share))


def test_a_change_of_level_denies_what_the_rounds_allow() -> None:
    """14 % less in the middle round: range and slope are within the rule."""
    found = steady_state(rounds(1000.0, 1000.0, 860.0, 1000.0, 1000.0), steps_per_round=20)

    assert found is not None
    assert (found.range_share < 0.2, found.slope_share < 0.1) == (True, True)
    assert (found.verdict, found.changed_at_steps) == ("unsteady", (40, 60))


def test_a_throttle_before_the_last_rounds_does_not_matter() -> None:
    """The sustained rate is a steady state."""
    found = steady_state(rounds(3000.0, 3000.0, 1000.0, 1000.0, 1000.0, 1000.0, 1000.0), steps_per_round=20)

    assert found is not None
    assert (found.verdict, found.changed_at_steps) == ("steady", ())


def test_a_series_that_is_too_short_has_no_state() -> None:
    """Fewer than five rounds, fewer than 20 steps, or nothing moved at all."""
    assert steady_state([1000.0] * 99, steps_per_round=20) is None
    assert steady_state([1000.0] * 15, steps_per_round=3) is None
    assert steady_state([0.0] * 100, steps_per_round=20) is None


def test_noise_gives_no_conclusion_rather_than_a_verdict() -> None:
    """Steps that vary by 60 % and remember: of 40 series at most two are called unsteady."""
    random = np.random.default_rng(20261122)
    verdicts = []
    for _ in range(40):
        series = np.maximum(1000 * (1 + 0.6 * simulated.ar1(random, 100, 0.6)), 0.0)
        found = steady_state(series, steps_per_round=20)
        assert found is not None
        verdicts.append(found.verdict)

    assert verdicts.count("unsteady") <= 2
    assert verdicts.count("no conclusion") >= 20


def test_a_quiet_device_is_called_steady() -> None:
    """Noise of 5 % that remembers: in 19 of 20 of 40 series."""
    random = np.random.default_rng(20261122)
    found = [steady_state(1000 * (1 + 0.05 * simulated.ar1(random, 300, 0.6)), steps_per_round=30) for _ in range(40)]

    assert [one.verdict for one in found if one is not None].count("steady") >= 38
