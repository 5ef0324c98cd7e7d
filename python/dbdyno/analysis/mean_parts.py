"""The error bars of an arm's mean profile.

With 6 trials or more each trial's parts are known exactly, and the trials are resampled.
With fewer, chunks of the trials are: what they differ in is laid upon the exact parts as a factor.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dbdyno.analysis.division import Divider
from dbdyno.analysis.findings import Intervals, Part, event_note
from dbdyno.analysis.profile import PartSums
from dbdyno.analysis.resampling import MINIMUM_CLUSTERS, Floats, Resampling, by_size, estimates, rank_groups
from dbdyno.analysis.snapshots import Cells


def intervals(sums: PartSums, cells: Cells | None, divider: Divider | None, seed: int) -> Intervals | None:
    """Every part with its interval; None where there are too few trials and no chunks."""
    trials = len(sums.units)
    if trials >= MINIMUM_CLUSTERS:
        resampling = Resampling.of(trials, seed)
        return Intervals("trials", trials, parts(sums.parts, sums.means(resampling), resampling))
    if cells is None or divider is None or cells.clusters < MINIMUM_CLUSTERS:
        return None
    resampling = Resampling.of(cells.clusters, seed)
    return Intervals(
        "chunks", cells.clusters, parts(sums.parts, _of_chunks(sums, cells, divider, resampling), resampling)
    )


def parts(names: Sequence[str], figures: Floats, resampling: Resampling) -> list[Part]:
    """The parts of some mean time, the greatest first; nothing that was never there.

    Args:
        names: of the columns.
        figures: their times, the estimates in the first row, then the replicates.
        resampling: what the replicates were drawn with.
    """
    whole = np.where(np.isnan(figures), figures[:1], figures).sum(axis=1, keepdims=True)
    times, shares = resampling.stretched(figures), resampling.stretched(figures / whole)
    groups = rank_groups(times)
    # Only what is left over may be negative.
    least = [None if part == "unaccounted" else 0.0 for part in names]
    ns, share = estimates(times, least), estimates(shares, least)
    return [
        Part(
            part=names[place],
            ns=ns[place],
            share=share[place],
            rank_group=groups[place],
            note=event_note(names[place]),
        )
        for place in by_size(figures)
        if figures[0, place] != 0
    ]


def _of_chunks(sums: PartSums, cells: Cells, divider: Divider, resampling: Resampling) -> Floats:
    """The exact parts, and replicates that differ from them as the snapshots in the chunks do."""
    everything = cells.within().resampled(resampling)
    divided = divider.divide(everything)
    per_unit = divided.ns / everything.units[:, None]
    column = {part: place for place, part in enumerate(divided.parts)}
    exact = sums.ns.sum(axis=0) / sums.units.sum()
    unknown = np.concatenate([[1.0], np.full(len(per_unit) - 1, np.nan)])

    def factor(part: str) -> Floats:
        place = column.get(part)
        if place is None or per_unit[0, place] == 0:
            return unknown
        return np.asarray(per_unit[:, place] / per_unit[0, place])

    return np.stack([ns * factor(part) for part, ns in zip(sums.parts, exact, strict=True)], axis=1)
