"""The valleys of a histogram that part its peaks for certain, found by dropping the doubtful ones, the worst first.

In: counts by bin on the log scale, for each of some stretches of time. A kernel density of all together proposes peaks
and the valleys between them; what decides is the counts themselves, in zones of equal width around the bottom of the
valley and around the peaks on both sides of it: those of all stretches, and those of the odd and of the even ones, each
without the stretch that has most of the peak. So a stall is no peak, even if it lies across two stretches.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy import special

from dbdyno.analysis.calibration.log_bins import Floats, Integers

# The kernel's standard deviation, in bins: 10 % of the response time. Peaks closer than about 25 % are one.
KERNEL_BINS = 2.0
# Zones reach so many bins to each side at most: 11 bins are a factor of 1.7.
WIDEST_ZONE = 5
# The bottom and the peaks are chosen out of some 10 places each, for their counts: 100 times stricter than 1 %.
# A half only has to show the same again.
VALLEY_LEVEL, VALLEY_LEVEL_OF_A_HALF = 1e-4, 5e-2
# A valley with more than so much of its lower peak is a ripple.
RIPPLE = 0.7
# A peak has half of its I/Os within a factor of 6.3 (a lognormal one of sigma 1: 3.9; outliers evenly spread over two
# decades: 10).
WIDEST_HALF = 40
# Less than this of the I/Os and of the time is part of its neighbour's tail.
TRIFLE = 0.01


def parted(stretches: Integers, time_ns: Floats) -> list[int]:
    """The bins in which the distribution is cut: none if there is one mode.

    Args:
        stretches: counts [stretch of time, bin].
        time_ns: what an I/O of each bin took.
    """
    counts = stretches.sum(axis=0)
    smooth = _smooth(counts)
    peaks = _peaks(smooth)
    while len(peaks) > 1:
        bottoms = [low + _bottom(smooth[low : high + 1]) for low, high in pairwise(peaks)]
        doubts = [_doubt(stretches, *at) for at in zip(peaks, bottoms, peaks[1:], strict=False)]
        worst = int(np.argmax(doubts))
        if doubts[worst] > VALLEY_LEVEL:
            dropped = worst if smooth[peaks[worst]] < smooth[peaks[worst + 1]] else worst + 1
        elif (unfit := _no_mode(counts, time_ns, bottoms)) is not None:
            dropped = unfit
        else:
            return bottoms
        del peaks[dropped]
    return []


def _smooth(counts: Integers) -> Floats:
    reach = int(np.ceil(4 * KERNEL_BINS))
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / KERNEL_BINS) ** 2)
    return np.convolve(np.pad(counts.astype(np.float64), reach), kernel / kernel.sum(), mode="valid")


def _peaks(smooth: Floats) -> list[int]:
    """Bins that are higher than the one before and not lower than the one after."""
    padded = np.concatenate([[0.0], smooth, [0.0]])
    return np.flatnonzero((padded[1:-1] > padded[:-2]) & (padded[1:-1] >= padded[2:])).tolist()


def _bottom(smooth: Floats) -> int:
    """The lowest place; the middle one where many are empty."""
    lowest = np.flatnonzero(smooth <= smooth.min())
    return int(lowest[len(lowest) // 2])


def _doubt(stretches: Integers, left: int, bottom: int, right: int) -> float:
    """How likely chance makes so deep a valley next to the less convincing peak; 1 if a half does not show it."""
    reach = min(bottom - left - 1, right - bottom - 1, 2 * WIDEST_ZONE) // 2
    valley, *peaks = (stretches[:, max(at - reach, 0) : at + reach + 1].sum(axis=1) for at in (bottom, left, right))
    return max(_doubt_of_side(valley, peak) for peak in peaks)


def _doubt_of_side(valley: Integers, peak: Integers) -> float:
    """From the I/Os of both zones by stretch of time."""
    if valley.sum() > RIPPLE * peak.sum():
        return 1.0
    for half in (0, 1):
        without_most = np.arange(half, len(peak), 2)
        without_most = np.delete(without_most, peak[without_most].argmax()) if len(without_most) else without_most
        if _chance(valley[without_most].sum(), peak[without_most].sum()) > VALLEY_LEVEL_OF_A_HALF:
            return 1.0
    return _chance(valley.sum(), peak.sum())


def _chance(valley: int, peak: int) -> float:
    """Of at most so many I/Os in the valley if its zone and the peak's were equally dense: binomial, one half each."""
    return float(special.bdtr(valley, valley + peak, 0.5))


def _no_mode(counts: Integers, time_ns: Floats, bottoms: list[int]) -> int | None:
    """The smallest mode that is a trifle, or too wide for a peak; the one with most I/Os is always a mode."""
    edges = [0, *bottoms, len(counts)]
    ios = np.add.reduceat(counts, edges[:-1])
    greater = np.maximum(ios / ios.sum(), np.add.reduceat(counts * time_ns, edges[:-1]) / (counts @ time_ns))
    wide = [_width_of_half(counts[low:high]) > WIDEST_HALF for low, high in pairwise(edges)]
    unfit = [place for place in np.argsort(greater).tolist() if greater[place] < TRIFLE or wide[place]]
    return next((place for place in unfit if place != ios.argmax()), None)


def _width_of_half(counts: Integers) -> int:
    """How many bins the middle half of the I/Os takes."""
    low, high = np.searchsorted(counts.cumsum(), counts.sum() * np.asarray([0.25, 0.75]))
    return int(high - low)
