"""How much a series of throughput wanders by itself: what tells a change of level, or a rate, from noise.

Neighbouring steps of a series are alike, so the mean of n of them is known as well as that of n / (variance inflation)
independent ones: the long-run variance (of an AR(1) process: variance x (1 + c) / (1 - c)) takes the place of the
variance wherever levels are compared.

It is found from differences, by their median size, so that a few changes of level and outliers hardly move it. For an
AR(1) process the squares of differences over two steps and over one are as 1 + c is to 1 (Chakar and others 2017,
"A robust approach for estimating change-points in the mean of an AR(1) process"). Few steps know their correlation
badly, so it is drawn towards what disks usually have.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from dbdyno.analysis.calibration.log_bins import Floats

# The median of |x| of a normal number, which makes a median size a standard deviation.
NORMAL_MEDIAN = 0.6744897501960817
# What is believed of the correlation of steps before any is seen, and how many steps that weighs as much as.
USUAL_CORRELATION, USUAL_WEIGHS_STEPS = 0.6, 60.0
GREATEST_CORRELATION = 0.9
# Steps further apart than this are hardly alike: their differences show the whole variance.
FAR = (5, 10)
# A step is an outlier if it is so many standard deviations from the median of the steps around it.
OUTLIER_DEVIATIONS, AROUND = 4.0, 3


@dataclasses.dataclass(frozen=True, slots=True)
class NoiseLevel:
    """The correlation of neighbouring steps, and the variance that counts for means over many of them."""

    correlation: float
    long_run_variance: float

    @staticmethod
    def of(series: Floats) -> NoiseLevel:
        """From at least 12 steps."""
        one, two = (_variance_of_differences(series, apart) for apart in (1, 2))
        seen = two / one - 1 if one > 0 else 0.0
        weighed = len(series) * min(max(seen, 0.0), GREATEST_CORRELATION) + USUAL_WEIGHS_STEPS * USUAL_CORRELATION
        correlation = weighed / (len(series) + USUAL_WEIGHS_STEPS)
        near = one / (1 - correlation)
        variance = max(near, *(_variance_of_differences(series, apart) for apart in FAR)) / 2
        return NoiseLevel(correlation, variance * (1 + correlation) / (1 - correlation))


def _variance_of_differences(series: Floats, apart: int) -> float:
    differences = np.abs(series[apart:] - series[:-apart])
    return float((np.median(differences) / NORMAL_MEDIAN) ** 2)


def without_outliers(series: Floats) -> Floats:
    """Steps far from the median of the seven around them are replaced by it, for finding levels only (Hampel 1974)."""
    padded = np.pad(series, AROUND, mode="reflect")
    medians = np.median(np.lib.stride_tricks.sliding_window_view(padded, 2 * AROUND + 1), axis=1)
    away = np.abs(series - medians)
    scale = np.median(away) / NORMAL_MEDIAN
    return np.where(away > OUTLIER_DEVIATIONS * scale, medians, series)
