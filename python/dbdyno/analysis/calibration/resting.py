"""Does a read take longer after a rest? CPUs and devices go to sleep, and most servers have more rest than load."""

from __future__ import annotations

from collections.abc import Sequence

from dbdyno.analysis.calibration.block_bootstrap import BlockBootstrap
from dbdyno.analysis.calibration.entries import Blocks, correlation_of, latency, quantiles
from dbdyno.analysis.calibration.findings import Rested
from dbdyno.analysis.documents import Document


def rested(entries: Sequence[Document], seed: int) -> Rested | None:
    """The median of reads that come rarely against that of reads without a rest, drawn by the same blocks."""
    after, at_once = (
        Blocks(tuple(entry for entry in entries if entry["phase"] == phase)) for phase in ("rested", "idle")
    )
    if not after.ios.sum() or len(after.entries) != len(at_once.entries):
        return None
    bootstrap = BlockBootstrap.of(len(after.entries), correlation_of([at_once]), seed)
    times = latency(after, bootstrap)
    medians = [quantiles(bootstrap.totals(blocks.counts), 0.5) for blocks in (after, at_once)]
    if times is None:
        return None
    gap_ns = 1e9 / after.entries[0]["work"]["load"]["per_s"]
    return Rested(gap_ns, times, bootstrap.estimate(medians[0] / medians[1]))
