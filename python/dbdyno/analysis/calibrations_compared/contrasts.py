"""The ratio of two figures on the log scale, by two kinds of evidence.

**By blocks**: two calibrations are independent samples of blocks, each with a standard error and degrees of freedom of
its own, so their difference has Welch's (1947). It knows how much blocks within a calibration vary, and nothing of how
much calibrations of an unchanged disk do.

**By calibrations**: k calibrations of one place say what it does anyway. Where they and the new one are one normal
sample of logs, the difference of the new one and the mean of n of them, over s x sqrt(1 + 1/n), has Student's
distribution with k - 1 degrees of freedom: the interval for a new observation (Hahn 1969, "Factors for calculating
two-sided prediction intervals"; for one case against a few controls Crawford and Howell 1998). It takes in the blocks'
noise, since the k figures have it, too, and so s counts as at least what the blocks of the k say: few agree by chance
(the truncation of DerSimonian and Laird 1986: what is between calibrations is not less than nothing). Where the blocks
of one that is compared are noisier than those of the k are on average, what they are more by is added. Where the new
one is compared with one that is not among the k, n is 1.

How often a figure of an unchanged disk is called changed at 5 % (10,000 each), with blocks that know a figure to 2 %
and calibrations that differ by so much more (standard deviations of logs):

| calibrations differ by | by blocks | by k = 2 | k = 4 | k = 8 calibrations |
|------------------------|-----------|----------|-------|--------------------|
| 0                      | 0.05      | 0.00     | 0.00  | 0.01               |
| 2 %                    | 0.14      | 0.00     | 0.01  | 0.03               |
| 5 %                    | 0.44      | 0.00     | 0.03  | 0.04               |
| 10 %                   | 0.68      | 0.00     | 0.05  | 0.05               |
| 20 %                   | 0.84      | 0.02     | 0.05  | 0.05               |
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
from scipy import special

from dbdyno.analysis.calibration.block_bootstrap import BlockBootstrap, student_over_normal
from dbdyno.analysis.calibration.log_bins import Floats
from dbdyno.analysis.findings import Estimate, finite

# With fewer calibrations their spread is not known at all.
LEAST_CALIBRATIONS = 2
# Of the replicates without a figure.
MOST_UNDEFINED = 0.02


@dataclasses.dataclass(frozen=True, slots=True)
class Known:
    """The log of a figure, its standard error and how many degrees of freedom that has; None with too few blocks."""

    log: float
    error: float | None
    free: float

    def estimate(self) -> Estimate:
        """The figure with its 95 % interval."""
        return Contrast(self.log, self.error, self.free).estimate(0.95)


@dataclasses.dataclass(frozen=True, slots=True)
class Contrast:
    """A difference of logs, as well known as Student's distribution says."""

    log: float
    error: float | None
    free: float

    def estimate(self, confidence: float) -> Estimate:
        """The ratio with its interval."""
        centre = finite(math.exp(self.log))
        half = self.half_width(confidence)
        if half is None:
            return Estimate(centre, None, None)
        return Estimate(centre, *(float(finite(np.exp(np.clip(self.log + side, -700, 700)))) for side in (-half, half)))

    def half_width(self, confidence: float) -> float | None:
        """Of the interval, in logs."""
        return None if self.error is None else self.error * float(special.stdtrit(self.free, (1 + confidence) / 2))

    def p_value(self) -> float | None:
        """Two-sided, of no difference."""
        if self.error is None:
            return None
        if self.error == 0:
            return 1.0 if self.log == 0 else 0.0
        return 2.0 * float(special.stdtr(self.free, -abs(self.log) / self.error))


def known(bootstrap: BlockBootstrap, figures: Floats) -> Known | None:
    """A figure by replicate; None where it is zero or not there."""
    return known_stretched(bootstrap.stretched(figures), bootstrap.free)


def known_stretched(figures: Floats, free: float) -> Known | None:
    """The same of figures whose deviations are stretched, for Student's distribution too, which is undone here."""
    there = np.isfinite(figures) & (figures > 0)
    if not there[0] or (~there).mean() > MOST_UNDEFINED:
        return None
    logs = np.log(figures[there])
    if len(logs) == 1:
        return Known(float(logs[0]), None, free)
    # About the estimate, not about the replicates' mean: a bias counts, too.
    error = math.sqrt(float(np.mean((logs[1:] - logs[0]) ** 2))) / student_over_normal(free)
    return Known(float(logs[0]), error, free)


def by_blocks(reference: Sequence[Known], later: Known) -> Contrast:
    """`later` over the geometric mean of the reference; without an interval where the blocks of one are too few."""
    ways = [(later.error, later.free), *((one.error, one.free) for one in reference)]
    shares = [1.0, *[1 / len(reference)] * len(reference)]
    variances = [(share * error) ** 2 for share, (error, _) in zip(shares, ways, strict=True) if error is not None]
    if len(variances) < len(ways):
        return Contrast(_difference(reference, later), None, 1.0)
    whole = sum(variances)
    weighed = sum(variance**2 / free for variance, (_, free) in zip(variances, ways, strict=True))
    free = whole**2 / weighed if weighed > 0 else 1.0
    return Contrast(_difference(reference, later), math.sqrt(whole), free)


def by_calibrations(reference: Sequence[Known], later: Known, usual: Sequence[Known]) -> Contrast | None:
    """The same by how the `usual` calibrations differ: the reference itself, or others than it and `later`."""
    if len(usual) < LEAST_CALIBRATIONS:
        return None
    noise = _variance(usual)
    more = max(_variance([later]) - noise, 0.0) + max(_variance(reference) - noise, 0.0) / len(reference)
    variance = max(spread(usual) ** 2, noise) * (1 + 1 / len(reference)) + more
    return Contrast(_difference(reference, later), math.sqrt(variance), len(usual) - 1.0)


def _variance(of: Sequence[Known]) -> float:
    """What the blocks say of it, the mean of several; nothing where they say nothing."""
    return sum((one.error or 0.0) ** 2 for one in of) / len(of)


def spread(usual: Sequence[Known]) -> float:
    """The standard deviation of the logs of two calibrations or more."""
    return float(np.std([one.log for one in usual], ddof=1))


def _difference(reference: Sequence[Known], later: Known) -> float:
    return later.log - sum(one.log for one in reference) / len(reference)
