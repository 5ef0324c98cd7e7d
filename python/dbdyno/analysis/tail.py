"""Why the slowest units of an arm are slow: their profile beside that of the median units, and the difference.

The mean response time of a band is exact, and so is its queue time; the rest is divided by the snapshots in the
band's units. Both bands are made from the same draw of clusters, so the differences have honest intervals, and all
parts are tested at once. The edges of the bands are part of the question and not resampled.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from dbdyno.analysis.bands import MIDDLE, SLOWEST, Edges, Share, edges
from dbdyno.analysis.division import Divided, Divider
from dbdyno.analysis.findings import Band, ExtraPart, Tail, event_note
from dbdyno.analysis.mean_parts import parts
from dbdyno.analysis.reasons import SIGNIFICANT
from dbdyno.analysis.resampling import (
    Floats,
    Resampling,
    by_size,
    estimates,
    rank_groups,
    simultaneous_p_values,
)
from dbdyno.analysis.snapshots import Cells, Sums
from dbdyno.analysis.tail_words import sentence

# With 50 snapshots a share of one half is known to 0.14 either way at best; with fewer it is better not named.
FEWEST_SNAPSHOTS = 50
# The slowest of 500 units are 5; what fewer have in common is chance.
FEWEST_UNITS = 5
TOO_CLOSE = "the response times lie too close together: the bins of these units hold median ones, too"


def tail(cells: Cells, divider: Divider, seed: int, asked: Share = SLOWEST) -> Tail | str:
    """The tail, or why there is none.

    Args:
        cells: of the arm's trials.
        divider: that of the arm.
        seed: of the run.
        asked: which units are the slow ones.
    """
    slow_edges, median_edges = edges(cells, asked), edges(cells, MIDDLE)
    if np.intersect1d(slow_edges.bins, median_edges.bins).size:
        return TOO_CLOSE
    resampling = Resampling.of(cells.clusters, seed)
    slow = _Side(cells.within(slow_edges.bins), divider, resampling)
    if slow.units < FEWEST_UNITS:
        return f"fewer than {FEWEST_UNITS} units lie in this band"
    median = _Side(cells.within(median_edges.bins), divider, resampling)
    enough = min(slow.snapshots, median.snapshots) >= FEWEST_SNAPSHOTS
    extra_ns = resampling.stretched(slow.response_ns - median.response_ns)
    found = Tail(
        answer="told" if enough else "too_few_snapshots",
        sentence="",
        slow=slow.band(asked, slow_edges),
        median=median.band(MIDDLE, median_edges),
        extra_ns=estimates(extra_ns)[0],
        extra=_extra(slow, median, resampling) if enough else [],
        resampled=cells.resampled,
        clusters=cells.clusters,
    )
    return dataclasses.replace(found, sentence=sentence(found))


class _Side:
    """One band: its sums, resampled, and its time divided."""

    def __init__(self, sums: Sums, divider: Divider, resampling: Resampling) -> None:
        self._resampling = resampling
        self._sums = sums.resampled(resampling)
        self.units = round(self._sums.units[0])
        self.snapshots = round(self._sums.seen[0].sum())
        self.divided: Divided = divider.divide(self._sums)
        with np.errstate(invalid="ignore"):  # a replicate without any of these units has no mean
            self.response_ns: Floats = (self._sums.response_ns / self._sums.units)[:, None]
            self._per_unit: Floats = self.divided.ns / self._sums.units[:, None]

    def of(self, part: str) -> Floats:
        """The time of a part per unit; 0 of one that this band has not."""
        if part in self.divided.parts:
            return self._per_unit[:, self.divided.parts.index(part)]
        return np.zeros(len(self._per_unit))

    def band(self, asked: Share, found: Edges) -> Band:
        """What the findings say of it."""
        told = self.snapshots >= FEWEST_SNAPSHOTS
        return Band(
            from_share=asked.low,
            to_share=asked.high,
            share=found.share,
            low_ns=found.low_ns,
            high_ns=found.high_ns,
            units=self.units,
            snapshots=self.snapshots,
            response_time_ns=float(self.response_ns[0, 0]),
            parts=parts(self.divided.parts, self._per_unit, self._resampling) if told else [],
            runnable_from=self.divided.runnable_from if told else None,
            states_from=self.divided.states_from if told else None,
        )


def _extra(slow: _Side, median: _Side, resampling: Resampling) -> list[ExtraPart]:
    """Slow minus median, part by part, what explains most first; the estimates sum to the extra time."""
    sign = np.sign(slow.response_ns[0, 0] - median.response_ns[0, 0])
    names = [*slow.divided.parts, *(part for part in median.divided.parts if part not in slow.divided.parts)]
    differences = np.stack([slow.of(part) - median.of(part) for part in names], axis=1)
    shares = estimates(resampling.stretched(differences / (slow.response_ns - median.response_ns)))
    figures = resampling.stretched(differences)
    ns, groups = estimates(figures), rank_groups(sign * figures)
    p_values = simultaneous_p_values(differences, resampling.clusters)
    return [
        ExtraPart(
            part=names[place],
            ns=ns[place],
            share=shares[place],
            p_value=p_values[place],
            told=(p_value := p_values[place]) is not None and p_value < SIGNIFICANT,
            rank_group=groups[place],
            note=event_note(names[place]),
        )
        for place in by_size(sign * figures)
        if figures[0, place] != 0
    ]
