"""Error bars by resampling clusters: of a figure, of a difference, of many figures at once.

What lies within a trial is alike (its units met the same machine, its snapshots the same units), so single units or
snapshots must not be resampled as if they were independent: whole clusters are, here the trials of an arm, or blocks
of trials where two arms are compared. That carries everything that happens within a cluster, the sampling error of
the snapshots too (Davison and Hinkley 1997, section 3.8). An arm of fewer than 6 trials has its trials cut into
chunks of time, and those are resampled, whichever trial they are of.

Two corrections make intervals from few clusters hold what they promise; without them 12 clusters cover about 91 %:

- n - 1 of n clusters are drawn, each counting n / (n - 1) times: then the variance is that of the usual unbiased
  formula (Rao and Wu 1988);
- deviations are stretched by Student's t over the normal quantile, because few clusters know their own spread badly
  (the expanded percentile interval; Hesterberg 2015).
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import special

from dbdyno.analysis.findings import Estimate, finite
from dbdyno.analysis.signed_rank import MINIMUM_BLOCKS

Floats = npt.NDArray[np.float64]

# The 2.5 % point of 2000 replicates is the 50th: its own error is a seventh of the tail probability.
REPLICATES = 2_000
# A product of matrices with more multiplications than about a million wakes the threads of the linear algebra library,
# which then wait for each other, and on a busy machine that takes ten times the product itself.
MULTIPLICATIONS = 500_000
# With fewer clusters there is no interval, as everywhere in this program.
MINIMUM_CLUSTERS = MINIMUM_BLOCKS
# A replicate has no figure where none of its clusters holds what is asked about; so many of them may be left out.
MOST_UNDEFINED = 0.02
CONFIDENCE = 0.95


@dataclasses.dataclass(frozen=True, slots=True)
class Resampling:
    """How often each cluster was drawn in each replicate (replicates x clusters); no replicates of too few clusters."""

    drawn: Floats

    @classmethod
    def of(cls, clusters: int, seed: int) -> Resampling:
        """The same seed gives the same intervals, byte for byte."""
        return cls(_drawn(clusters, seed))

    @property
    def clusters(self) -> int:
        """How many there are to draw from."""
        return int(self.drawn.shape[1])

    def totals(self, by_cluster: Floats) -> Floats:
        """The sum over clusters, for the data as they are (first row) and for each replicate.

        Counts and whole nanoseconds are multiplied and added without rounding, so it does not matter in which order
        the machine at hand does it.
        """
        each_counts = self.clusters / (self.clusters - 1) if self.clusters > 1 else 1.0
        at_once = 1 + MULTIPLICATIONS // (by_cluster.size + 1)
        portions = [self.drawn[first : first + at_once] for first in range(0, len(self.drawn), at_once)]
        replicates = [portion @ by_cluster * each_counts for portion in portions]
        return np.concatenate([by_cluster.sum(axis=0, keepdims=True), *replicates])

    def totals_of_each(self, some: Sequence[Floats]) -> list[Floats]:
        """The totals of several figures by cluster, made at once, which takes little longer than those of one."""
        columns = [figures[:, None] if figures.ndim == 1 else figures for figures in some]
        ends = np.cumsum([figures.shape[1] for figures in columns])
        totals = np.split(self.totals(np.concatenate(columns, axis=1)), ends[:-1], axis=1)
        return [total[:, 0] if figures.ndim == 1 else total for total, figures in zip(totals, some, strict=True)]

    def stretched(self, figures: Floats) -> Floats:
        """Figures (first row: the estimates, then the replicates) with the deviations of few clusters corrected."""
        if len(figures) == 1:
            return figures
        level = (1 + CONFIDENCE) / 2
        factor = float(special.stdtrit(self.clusters - 1, level) / special.ndtri(level))
        return np.concatenate([figures[:1], figures[:1] + factor * (figures[1:] - figures[:1])])


@functools.lru_cache(maxsize=4)  # all arms of a run have the same clusters, and the same seed
def _drawn(clusters: int, seed: int) -> Floats:
    if clusters < MINIMUM_CLUSTERS:
        return np.empty((0, clusters))
    random = np.random.default_rng([seed, clusters])
    drawn = random.multinomial(clusters - 1, np.full(clusters, 1 / clusters), size=REPLICATES).astype(np.float64)
    drawn.flags.writeable = False
    return drawn


def estimates(figures: Floats, least: Sequence[float | None] | None = None) -> list[Estimate]:
    """One estimate a column of stretched figures: the estimates in the first row, the replicates in the others.

    No bound is below the column's `least`, say 0 for times, which stretching may make negative.
    """
    lowest = [None] * figures.shape[1] if least is None else least
    points, bounds = figures[0].tolist(), _bounds(figures[1:])
    return [_estimate(*of) for of in zip(points, bounds, lowest, strict=True)]


def estimate(column: Floats) -> Estimate:
    """The estimate of one column."""
    return estimates(column[:, None])[0]


def _estimate(point: float, bounds: tuple[float, float] | None, least: float | None) -> Estimate:
    if bounds is None:
        return Estimate(finite(point), None, None)
    low, high = bounds if least is None else (max(bound, least) for bound in bounds)
    # The replicates of a skewed figure may lie beside it: an interval always holds what it is about.
    return Estimate(finite(point), min(low, point), max(high, point))


def _bounds(replicates: Floats) -> list[tuple[float, float] | None]:
    """The two quantiles of each column; None where too many replicates have no figure."""
    known = ~np.isnan(replicates)
    if known.all():
        return _quantiles(replicates)
    few = known.sum(axis=0) < max((1 - MOST_UNDEFINED) * len(replicates), 1)
    return [
        None if too_few else _quantiles(column[there][:, None])[0]
        for column, there, too_few in zip(replicates.T, known.T, few, strict=True)
    ]


def _quantiles(replicates: Floats) -> list[tuple[float, float] | None]:
    if not len(replicates):
        return [None] * replicates.shape[1]
    low, high = np.quantile(replicates, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=0)
    return list(zip(low.tolist(), high.tolist(), strict=True))


def simultaneous_p_values(differences: Floats, clusters: int) -> list[float | None]:
    """For each column the p value of "zero", so that a false alarm on any of them has the stated chance.

    The greatest studentised deviation over all columns in each replicate is what a column must exceed
    (Westfall and Young 1993, the max-T method; it spends less than Bonferroni where columns go together).
    Replicates deviate as normal numbers do, but a column is divided by a spread that few clusters give: it is first
    brought from Student's scale to the normal one. Without that, 8 clusters and 6 parts cry wolf in 11 of 100 families.

    Args:
        differences: not stretched; the estimates in the first row, the replicates in the others.
        clusters: how many they were drawn from.
    """
    known = differences[1:][~np.isnan(differences[1:]).any(axis=1)]
    if not len(known) or len(known) < (1 - MOST_UNDEFINED) * (len(differences) - 1):
        return [None] * differences.shape[1]
    deviations = known - differences[0]
    spread = np.sqrt((deviations**2).mean(axis=0))
    varies = spread > 0
    greatest = (np.abs(deviations[:, varies]) / spread[varies]).max(axis=1, initial=0.0)

    def p_value(column: int) -> float:
        """A figure of exactly zero has 1; one that is the same in every cluster is known."""
        estimate = abs(differences[0, column])
        if estimate == 0:
            return 1.0
        student = estimate / spread[column] if varies[column] else np.inf
        normal = -special.ndtri(special.stdtr(clusters - 1, -student))
        return (1 + int((greatest >= normal).sum())) / (1 + len(known))

    return [p_value(column) for column in range(differences.shape[1])]


def rank_groups(figures: Floats) -> list[int]:
    """A number for each column, 1 for the greatest; columns not told from the first of a group share its number.

    Told apart are two whose difference, made replicate by replicate, has an interval without zero.
    """
    groups = [1] * figures.shape[1]
    order = by_size(figures)
    leader, group = order[0] if order else 0, 1
    for column in order[1:]:
        bounds = _bounds(figures[1:, [leader]] - figures[1:, [column]])[0]
        if bounds is not None and bounds[0] > 0:
            leader, group = column, group + 1
        groups[column] = group
    return groups


def by_size(figures: Floats) -> list[int]:
    """The columns, the greatest estimate first."""
    return sorted(range(figures.shape[1]), key=lambda column: -figures[0, column])
