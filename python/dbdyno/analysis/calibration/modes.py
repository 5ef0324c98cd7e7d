"""The modes of a latency distribution: how many peaks it has, what each costs, and when its I/Os come.

A slow mode of 1 % of the I/Os can take 14 % of the time, yet the dip of the I/Os hardly sees it. So two distributions
of the log response time are tested, both with Hartigans' dip, corrected by Holm:

    I/Os    every I/O counts once
    time    every I/O counts as long as it took: the distribution of the time that was spent. Its I/Os are unequal, so
            it is worth fewer than there are: n_eff = (sum t)^2 / sum t^2 (Kish 1965)

Neither dip alone makes a mode. A heavy tail that is flat on the log scale gets a second peak at its end once it is
weighted by time, a few chance neighbours far out weigh as much as a mode, and a coarse clock makes a comb: of 20,000
I/Os with 0.1 % outliers over one to three decades the time's dip is significant in 95 of 100 runs, with an exponential
tail on 5 % of them in all. So where a dip is significant the valleys of a kernel density of the I/Os on the log scale
are asked, the least convincing first, and a valley parts two modes only if

- the I/Os in a zone around its bottom are fewer than those in zones of the same width around both peaks, by more than
  chance (binomial) and by more than a ripple;
- that holds in both halves of the data, which are made of alternating stretches of time, without the stretch of each
  that has most of the peak: one stall is no mode;
- both sides are peaks, not tails as wide as a decade, with more than a trifle of the I/Os or of the time.

Measured on lognormal modes of sigma 0.2, 120 us and slow ones at 2 ms: 1 % slow I/Os are found in 100 of 100 runs of
20,000 and of 5,000 I/Os, in 39 of 100 of 2,000; 0.3 % in 100 and 0.1 % in 28 of 100 of 20,000. About 30 slow I/Os are
needed. Two modes of that width are parted from a factor of 2.1 on where they share the I/Os evenly, of 2.4 if one has a
tenth. One mode of nine kinds (tests/simulated_storage.py) was called two in 1 of 2,160 runs of 2,000 to 200,000 I/Os.

All I/Os belong to some mode, outliers too: nothing is trimmed.

The pattern of a mode is `clustered` if its share of the I/Os varies over time more than chance lets it (the index of
dispersion, Fisher 1950) and by at least half of itself: another tenant, a throttle. Otherwise it is `scattered`: a
tier, a cache miss. It is None where a mode has too few I/Os to tell.
"""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy import special

from dbdyno.analysis.calibration.dip import dip_of_bins, p_value
from dbdyno.analysis.calibration.log_bins import Floats, Integers, edge_ns, middle_ns, quantile_ns
from dbdyno.analysis.calibration.peaks import parted
from dbdyno.analysis.holm import holm

SIGNIFICANCE = 0.01
# Stretches of time that make up the two halves, in turns. Fewer than 4 steps have one mode.
STRETCHES = 20
# Steps are merged until a mode has so many I/Os in each in the mean: the chi-squared distribution needs 5 (Cochran).
LEAST_EXPECTED, LEAST_GROUPS = 5.0, 8
# A share that varies by less than half of itself (as a standard deviation) comes and goes with the load, not in bursts.
CLUSTERED_VARIATION = 0.5


@dataclasses.dataclass(frozen=True, slots=True)
class Mode:
    """A peak of the distribution, with all I/Os between the valleys beside it."""

    centre_ns: int
    low_ns: int
    high_ns: int
    share_of_ios: float
    share_of_time: float
    pattern: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class Modes:
    """All modes, fastest first; one at least. The p values are those of "one mode", after Holm."""

    modes: tuple[Mode, ...]
    p_value_ios: float
    p_value_time: float


def modes(heat: npt.ArrayLike) -> Modes | None:
    """The modes of the I/Os in rows [step of time, bin of `log_bins`, count]; None without any."""
    rows = np.asarray(heat, dtype=np.int64).reshape(-1, 3)
    if not rows[:, 2].any():
        return None
    grid, first_bin = _grid(rows)
    counts = grid.sum(axis=0)
    time_ns = middle_ns(first_bin + np.arange(len(counts)))
    p_ios, p_time = holm(_p_values(counts, time_ns))
    valleys = parted(_stretches(grid), time_ns) if min(p_ios, p_time) < SIGNIFICANCE else []
    found = (_mode(grid, time_ns, low, high) for low, high in pairwise([0, *valleys, len(counts)]))
    return Modes(tuple(found), p_ios, p_time)


def _grid(rows: Integers) -> tuple[Integers, int]:
    """Counts [step, bin] from the first filled bin to the last, and which bin the first is."""
    step, bins, count = rows[rows[:, 2] > 0].T
    first = int(bins.min())
    _, place = np.unique(step, return_inverse=True)
    grid = np.zeros((place.max() + 1, int(bins.max()) - first + 1), dtype=np.int64)
    np.add.at(grid, (place, bins - first), count)
    return grid, first


def _p_values(counts: Integers, time_ns: Floats) -> list[float]:
    """Of the I/Os and of the time."""
    edges = np.arange(len(counts) + 1)  # a dip does not depend on where the log scale begins, nor on its unit
    spent = counts * time_ns
    worth = float(spent.sum() ** 2 / (spent @ time_ns))
    return [p_value(dip_of_bins(edges, counts), float(counts.sum())), p_value(dip_of_bins(edges, spent), worth)]


def _stretches(grid: Integers) -> Integers:
    """The counts of stretches of time: [stretch, bin]."""
    return np.add.reduceat(grid, np.unique(np.arange(STRETCHES) * len(grid) // STRETCHES), axis=0)


def _mode(grid: Integers, time_ns: Floats, low: int, high: int) -> Mode:
    """The one that has the bins from `low` to before `high`."""
    counts = grid.sum(axis=0)
    inside = counts[low:high]
    filled = np.flatnonzero(inside)
    lowest_ns = time_ns[low] / middle_ns(0)
    return Mode(
        centre_ns=round(float(lowest_ns * quantile_ns(inside[None, :].astype(np.float64), 0.5)[0])),
        low_ns=round(float(lowest_ns * edge_ns(filled[0]))),
        high_ns=round(float(lowest_ns * edge_ns(filled[-1] + 1))),
        share_of_ios=float(inside.sum() / counts.sum()),
        share_of_time=float((inside @ time_ns[low:high]) / (counts @ time_ns)),
        pattern=_pattern(grid[:, low:high].sum(axis=1), grid.sum(axis=1)),
    )


def _pattern(of_mode: Integers, of_all: Integers) -> str | None:
    """From the counts of a mode and of all I/Os by step: `clustered`, `scattered`, or None for too few to tell.

    The index of dispersion compares the squares of observed minus expected counts with the binomial variance.
    """
    groups = min(len(of_mode), int(of_mode.sum() / LEAST_EXPECTED))
    if groups < LEAST_GROUPS:
        return None
    edges = np.linspace(0, len(of_mode), groups + 1).astype(np.int64)[:-1]
    seen, tried = (np.add.reduceat(counts, edges).astype(np.float64) for counts in (of_mode, of_all))
    share = seen.sum() / tried.sum()
    if share == 1.0:
        return "scattered"
    expected = tried * share
    dispersion = float(((seen - expected) ** 2 / (expected * (1 - share))).sum())
    by_chance = float(special.chdtrc(groups - 1, dispersion))
    beyond_chance = ((seen - expected) ** 2 - expected * (1 - share)).sum() / (expected**2).sum()
    varies = by_chance < SIGNIFICANCE and beyond_chance > CLUSTERED_VARIATION**2
    return "clustered" if varies else "scattered"
