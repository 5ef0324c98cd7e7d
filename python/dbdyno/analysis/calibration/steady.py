"""The steady state of a series of throughput: the SNIA's rule, and no change of level.

The Performance Test Specification of the SNIA (PTS 2.0.2, 2020) calls a device steady when over its last five rounds

    range   the greatest round exceeds the smallest by no more than 20 % of the average
    slope   the straight line through the rounds (least squares) moves by no more than 10 % of the average

Two things are added. A change of level within the five rounds denies a steady state that the averages of rounds would
show. And rounds that break the rule by no more than the noise of the machine does in 1 of 100 cases, or that differ by
20 % by noise alone in the mean, say nothing about the device: then there is no conclusion. Storage is not
preconditioned here as the specification asks.

Measured on steady devices, 300 to 1200 steps with a correlation of 0.6 in 10 rounds: with noise of 5 % a step 600 of
600 are called steady, of 10 % 594, of 20 % 491 (21 unsteady), of 40 % 184 (36 unsteady), the others no conclusion. A
throttle within the rounds is unsteady in 200 of 200, a decline by 5 % from round to round in 188.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import numpy.typing as npt

from dbdyno.analysis.calibration.change_points import LEAST_STEPS, levels
from dbdyno.analysis.calibration.noise_level import NoiseLevel, without_outliers

ROUNDS = 5
MOST_RANGE, MOST_SLOPE = 0.20, 0.10
# In standard errors of a round: the mean range of five independent normal numbers (Tippett 1925), the range that they
# exceed in 1 of 100 cases (the studentised range), and the like for how far their line moves: 2.576 x 4 / sqrt(10).
RANGE_OF_FIVE, GREAT_RANGE_OF_FIVE, GREAT_SLOPE_OF_FIVE = 2.326, 4.603, 3.258
STEADY, UNSTEADY, NO_CONCLUSION = "steady", "unsteady", "no conclusion"


@dataclasses.dataclass(frozen=True, slots=True)
class SteadyState:
    """The last five rounds: shares are of their average, and so is the range that the machine's noise alone makes."""

    verdict: str
    first_step: int
    steps_per_round: int
    average: float
    range_share: float
    slope_share: float
    noise_range_share: float
    changed_at_steps: tuple[int, ...]


def steady_state(series: npt.ArrayLike, steps_per_round: int) -> SteadyState | None:
    """Whether the end of a series is steady; None where it is too short or nothing moved.

    Args:
        series: throughput by step.
        steps_per_round: the length of each of the five rounds.
    """
    figures = np.asarray(series, dtype=np.float64)
    first = len(figures) - ROUNDS * steps_per_round
    if steps_per_round < 1 or first < 0 or ROUNDS * steps_per_round < LEAST_STEPS or not figures[first:].any():
        return None
    rounds = figures[first:].reshape(ROUNDS, steps_per_round).mean(axis=1)
    average = float(rounds.mean())
    slope = float(np.polynomial.polynomial.polyfit(np.arange(ROUNDS), rounds, 1)[1])
    variance = NoiseLevel.of(without_outliers(figures[first:])).long_run_variance
    changed = tuple(level.first_step for level in levels(figures) if level.first_step > first)
    range_share = float(np.ptp(rounds)) / average
    slope_share = abs(slope) * (ROUNDS - 1) / average
    error_share = math.sqrt(variance / steps_per_round) / average
    return SteadyState(
        verdict=_verdict(range_share, slope_share, error_share, bool(changed)),
        first_step=first,
        steps_per_round=steps_per_round,
        average=average,
        range_share=range_share,
        slope_share=slope_share,
        noise_range_share=RANGE_OF_FIVE * error_share,
        changed_at_steps=changed,
    )


def _verdict(range_share: float, slope_share: float, error_share: float, changed: bool) -> str:
    """Noise may hide a steady state, and may look like a change; it does not make rounds agree."""
    if range_share <= MOST_RANGE and slope_share <= MOST_SLOPE and not changed:
        return STEADY
    if RANGE_OF_FIVE * error_share > MOST_RANGE:
        return NO_CONCLUSION
    ranges = range_share > max(MOST_RANGE, GREAT_RANGE_OF_FIVE * error_share)
    slopes = slope_share > max(MOST_SLOPE, GREAT_SLOPE_OF_FIVE * error_share)
    return UNSTEADY if changed or ranges or slopes else NO_CONCLUSION
