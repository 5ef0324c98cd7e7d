"""Error bars by the bootstrap, as docs/how-we-decide.md says: 2000 replicates, drawn with the run's seed.

Of n clusters n - 1 are drawn, each counting n / (n - 1) times; deviations are stretched by Student's t over the normal
quantile. Rows: the data as they are, then the replicates; columns: whatever is asked about.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

LEAST_CLUSTERS = 6
COUNT = 2_000


class Replicates:
    """The draws for so many clusters."""

    def __init__(self, clusters: int, seed: int) -> None:
        self.clusters = clusters
        self._drawn = np.zeros((0, clusters))
        if clusters >= LEAST_CLUSTERS:
            random = np.random.default_rng([seed, clusters])
            self._drawn = random.multinomial(clusters - 1, [1 / clusters] * clusters, COUNT)

    def totals(self, by_cluster: np.ndarray) -> np.ndarray:
        """Sums over the clusters (first axis)."""
        figures = np.asarray(by_cluster, dtype=float)
        weights = self._drawn * self.clusters / max(self.clusters - 1, 1)
        return np.concatenate([figures.sum(axis=0)[None], np.tensordot(weights, figures, axes=1)])

    def stretched(self, figures: np.ndarray) -> np.ndarray:
        """Deviations from the estimate, stretched."""
        if len(figures) == 1:
            return figures
        factor = stats.t.ppf(0.975, self.clusters - 1) / stats.norm.ppf(0.975)
        return np.concatenate([figures[:1], figures[0] + factor * (figures[1:] - figures[0])])


def estimate(column: np.ndarray, least: float = -math.inf) -> dict[str, float | None]:
    """The 2.5 and 97.5 % quantiles of the replicates, which hold the estimate and do not go below `least`."""
    point, (low, high) = float(column[0]), bounds(column[1:])
    if low is None or high is None:
        return {"estimate": point, "low": None, "high": None}
    return {"estimate": point, "low": min(max(low, least), point), "high": max(max(high, least), point)}


def bounds(replicates: np.ndarray) -> tuple[float | None, float | None]:
    """None where 2 % of the replicates or more have no figure."""
    known = np.sort(replicates[~np.isnan(replicates)])
    if not len(known) or len(known) < 0.98 * len(replicates):
        return None, None
    low, high = (_quantile(known, share) for share in (0.025, 0.975))
    return low, high


def _quantile(ordered: np.ndarray, share: float) -> float:
    """Linear between the two neighbours."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return float(ordered[below] + (ordered[above] - ordered[below]) * (place - below))


def order_by_size(figures: np.ndarray) -> list[int]:
    """Columns, the greatest estimate first."""
    return sorted(range(figures.shape[1]), key=lambda column: -figures[0, column])


def rank_groups(figures: np.ndarray) -> list[int]:
    """A new group begins where a column is told from the first of the last group."""
    groups = [0] * figures.shape[1]
    leader, group = None, 0
    for column in order_by_size(figures):
        low = None if leader is None else bounds(figures[1:, leader] - figures[1:, column])[0]
        if leader is None or (low is not None and low > 0):
            leader, group = column, group + 1
        groups[column] = group
    return groups


def simultaneous_p_values(figures: np.ndarray, clusters: int) -> list[float | None]:
    """Westfall and Young: how many replicates have a greatest deviation as great as this one's."""
    known = figures[1:][~np.isnan(figures[1:]).any(axis=1)]
    if not len(known) or len(known) < 0.98 * (len(figures) - 1):
        return [None] * figures.shape[1]
    deviations = np.abs(known - figures[0])
    spread = np.sqrt(np.mean(deviations**2, axis=0))
    moving = spread > 0
    greatest = (deviations[:, moving] / spread[moving]).max(axis=1) if moving.any() else np.zeros(len(known))
    found: list[float | None] = []
    for point, width in zip(np.abs(figures[0]), spread, strict=True):
        if point == 0:
            found.append(1.0)
            continue
        # A deviation in Student's scale, brought to the normal one.
        normal = stats.norm.isf(stats.t.sf(point / width, clusters - 1)) if width > 0 else math.inf
        found.append(float((1 + np.sum(greatest >= normal)) / (1 + len(known))))
    return found
