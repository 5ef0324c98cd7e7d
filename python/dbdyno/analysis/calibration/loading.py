"""How the device answers to load: small random reads, so many at a time."""

from __future__ import annotations

from collections.abc import Sequence

from dbdyno.analysis.calibration import knee as knees
from dbdyno.analysis.calibration.block_bootstrap import BlockBootstrap
from dbdyno.analysis.calibration.entries import Blocks, by_level, correlation_of, latency
from dbdyno.analysis.calibration.findings import Load
from dbdyno.analysis.calibration.knee import Knee
from dbdyno.analysis.documents import Document

NS_PER_S = 1e9


def loads(entries: Sequence[Document], seed: int) -> tuple[Load, ...]:
    """The figures of each depth."""
    found = by_level(entries, "sweep", "depth")
    correlation = correlation_of(found.values())
    return tuple(
        one for depth, blocks in found.items() if (one := load_of(depth, blocks, correlation, seed)) is not None
    )


def knees_of(entries: Sequence[Document], seed: int, p99_budget_ns: int | None = None) -> tuple[Knee, ...]:
    """The knees by each formula, and the most throughput; none with fewer than two depths."""
    curve = curve_of(entries, seed)
    if curve is None:
        return ()
    every = (knees.power_knee(curve), knees.p99_knee(curve, p99_budget_ns), knees.most_throughput(curve))
    return tuple(one for one in every if one is not None)


def curve_of(entries: Sequence[Document], seed: int) -> knees.Curve | None:
    """The figures of each depth in every replicate; None with fewer than two depths."""
    cells = [
        knees.DepthBlocks(depth, blocks.ios, blocks.window_ns, blocks.response_time_sum_ns, blocks.counts)
        for depth, blocks in by_level(entries, "sweep", "depth").items()
        if blocks.ios.all()
    ]
    return knees.curve(cells, seed) if len(cells) > 1 else None


def load_of(depth: int, blocks: Blocks, correlation: float, seed: int) -> Load | None:
    """The figures of one depth; None where there was no I/O."""
    bootstrap = BlockBootstrap.of(len(blocks.entries), correlation, seed)
    times = latency(blocks, bootstrap)
    if times is None:
        return None
    iops = bootstrap.totals(blocks.ios) / bootstrap.totals(blocks.window_ns) * NS_PER_S
    in_all = sum(outcome["reads_in_all"] + outcome["writes_in_all"] for outcome in blocks.outcomes)
    cpu_ns = sum(outcome["cpu_ns"] for outcome in blocks.outcomes)
    return Load(depth, bootstrap.estimate(iops), times, cpu_ns / max(in_all, 1), len(blocks.entries))
