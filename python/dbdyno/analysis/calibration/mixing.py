"""Reads beside writes: how much longer the slow reads take for each rate of writes.

Reads and writes come as they come, at shares of the throughput at the knee, so a device that falls behind is late and
not spared: response times run from the intended start. Ratios are of cells of the same blocks, drawn together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dbdyno.analysis.calibration.block_bootstrap import BlockBootstrap
from dbdyno.analysis.calibration.entries import Blocks, correlation_of, grouped, quantiles
from dbdyno.analysis.calibration.findings import Mixed
from dbdyno.analysis.calibration.log_bins import Floats
from dbdyno.analysis.documents import Document

NS_PER_S = 1e9


def mixed(entries: Sequence[Document], seed: int) -> tuple[Mixed, ...]:
    """Each rate of reads with each rate of writes."""
    found = grouped(entries, "mixed", lambda level: (level["read_share"], level["write_share"]))
    found = {level: blocks for level, blocks in found.items() if blocks.reads.sum()}
    if not found:
        return ()
    correlation = correlation_of(found.values())
    p99s = {level: _p99_ns(blocks, correlation, seed) for level, blocks in found.items()}
    return tuple(
        _mixed(level, blocks, correlation, seed, p99s[level], p99s.get((level[0], 0.0)))
        for level, blocks in found.items()
    )


def _p99_ns(blocks: Blocks, correlation: float, seed: int) -> Floats:
    """By replicate."""
    return quantiles(BlockBootstrap.of(len(blocks.entries), correlation, seed).totals(blocks.counts), 0.99)


def _mixed(
    level: tuple[float, float],
    blocks: Blocks,
    correlation: float,
    seed: int,
    p99_ns: Floats,
    alone_ns: Floats | None,
) -> Mixed:
    bootstrap = BlockBootstrap.of(len(blocks.entries), correlation, seed)
    window_ns = bootstrap.totals(blocks.window_ns)
    counts = bootstrap.totals(blocks.counts)
    flush_times_ns = np.concatenate([outcome["flush_times_ns"] for outcome in blocks.outcomes])
    ratio = None
    if level[1] > 0 and alone_ns is not None and len(alone_ns) == len(p99_ns):
        ratio = bootstrap.estimate(p99_ns / alone_ns)
    return Mixed(
        read_share=level[0],
        write_share=level[1],
        reads_per_s=bootstrap.estimate(bootstrap.totals(blocks.reads) / window_ns * NS_PER_S),
        writes_per_s=bootstrap.estimate(bootstrap.totals(blocks.ios - blocks.reads) / window_ns * NS_PER_S),
        asked_per_s=float(blocks.entries[0]["work"]["load"]["per_s"]),
        p50_ns=bootstrap.estimate(quantiles(counts, 0.5)),
        p99_ns=bootstrap.estimate(p99_ns),
        ratio=ratio,
        flushes=len(flush_times_ns),
    )
