"""The knee of a storage's load curve, by two formulas that do not depend on any scale, and its most throughput.

    power   the depth with the greatest X / R: throughput gained for time lost (Giessler 1978, Kleinrock 1979)
    p99     the greatest depth whose p99 is at most twice that of the smallest depth, or at most the user's budget
    most    the depth with the greatest throughput X, which is not a knee: beyond the knee it is bought with time

Where a curve bends most depends on how its axes are scaled (Gunther 2009), so no such formula is here.

Every formula is applied to every replicate of the block bootstrap, and the depths it then gives are the interval. Cells
of equally many blocks share their draws, so a round that ran slowly at all depths moves no knee. The throughput at the
knee is the one at each replicate's own knee: it is not known better than where the knee is.
A knee at the greatest depth measured says only that it is not lower.

Measured on sweeps of 8 and 16 blocks with noise of 10 to 30 % a block that rounds share in part: the interval of depths
held the true knee in all of 360, for both formulas, and that of the throughput in 0.90 to 0.98 of 60 each.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from dbdyno.analysis.calibration.block_bootstrap import BlockBootstrap, interval_of, lag_one
from dbdyno.analysis.calibration.log_bins import Floats, Integers, edge_ns, quantile_ns
from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.resampling import CONFIDENCE

NS_PER_S = 1e9
P99_GROWTH = 2.0
POWER, MOST = "max X/R", "max X"
P99_DOUBLED = "largest depth with p99 <= 2 x p99 at the smallest depth"


@dataclasses.dataclass(frozen=True, slots=True)
class DepthBlocks:
    """The blocks of one depth in the order of time: sums by block, and counts [block, bin of `log_bins`]."""

    depth: int
    ios: Integers
    window_ns: Integers
    response_time_sum_ns: Integers
    response_time_counts: Integers


@dataclasses.dataclass(frozen=True, slots=True)
class Knee:
    """A knee with the formula that makes it one; depth_low 0: perhaps not even the smallest depth keeps the budget."""

    formula: str
    depth: int
    depth_low: int
    depth_high: int
    iops: Estimate


@dataclasses.dataclass(frozen=True, slots=True)
class Curve:
    """Throughput, response time and p99 of some depths, smallest first: [replicate, depth], the data themselves first.

    Deviations are stretched already. There is one row where a depth has too few blocks for an interval.
    """

    depths: Integers
    iops: Floats
    response_time_ns: Floats
    response_time_ns_p99: Floats


def curve(cells: Sequence[DepthBlocks], seed: int) -> Curve:
    """The figures of each depth, in every replicate."""
    by_depth = sorted(cells, key=lambda cell: cell.depth)
    correlation = lag_one([np.log(np.maximum(cell.ios, 1) / cell.window_ns) for cell in by_depth])
    figures = [_figures(cell, BlockBootstrap.of(len(cell.ios), correlation, seed)) for cell in by_depth]
    fewest = min(len(one) for one in figures)
    together = np.stack([one[:fewest] for one in figures], axis=1)
    depths = np.asarray([cell.depth for cell in by_depth])
    return Curve(depths, together[:, :, 0], together[:, :, 1], together[:, :, 2])


def _figures(cell: DepthBlocks, bootstrap: BlockBootstrap) -> Floats:
    """Throughput, mean and p99 of one depth: a row a replicate."""
    ios, window_ns = bootstrap.totals(cell.ios), bootstrap.totals(cell.window_ns)
    with np.errstate(invalid="ignore"):  # a replicate of blocks without I/Os has no response times
        mean_ns = bootstrap.totals(cell.response_time_sum_ns) / ios
    filled = np.flatnonzero(cell.response_time_counts.any(axis=0))
    counts = cell.response_time_counts[:, filled[0] : filled[-1] + 1]
    p99_ns = edge_ns(filled[0]) * quantile_ns(bootstrap.totals(counts), 0.99)
    return bootstrap.stretched(np.stack([ios / window_ns * NS_PER_S, mean_ns, p99_ns], axis=1))


def power_knee(of: Curve) -> Knee:
    """Where throughput over response time is greatest."""
    return _knee(POWER, of, power_places(of))


def power_places(of: Curve) -> Integers:
    """Which depth that is, in each replicate."""
    places: Integers = np.argmax(np.nan_to_num(of.iops / of.response_time_ns), axis=1)
    return places


def most_throughput(of: Curve) -> Knee:
    """Where throughput is greatest."""
    return _knee(MOST, of, np.argmax(of.iops, axis=1))


def p99_knee(of: Curve, budget_ns: int | None = None) -> Knee | None:
    """The greatest depth that keeps the budget (doubling the p99 of the smallest depth if none is given); None: none.

    A replicate in which no depth keeps it has depth 0 and throughput 0.
    """
    doubled = P99_GROWTH * of.response_time_ns_p99[:, :1]
    kept = of.response_time_ns_p99 <= (doubled if budget_ns is None else budget_ns)
    place = np.where(kept.any(axis=1), kept.shape[1] - 1 - np.argmax(kept[:, ::-1], axis=1), -1)
    formula = P99_DOUBLED if budget_ns is None else f"largest depth with p99 <= {budget_ns} ns"
    return None if place[0] < 0 else _knee(formula, of, place)


def _knee(formula: str, of: Curve, place: Integers) -> Knee:
    """From the place of the knee in each replicate."""
    depth = np.where(place < 0, 0, of.depths[place])
    iops = np.where(place < 0, 0.0, of.iops[np.arange(len(place)), place])
    low, high = _depth_interval(depth)
    return Knee(formula, int(depth[0]), low, high, interval_of(iops))


def _depth_interval(depth: Integers) -> tuple[int, int]:
    """Depths that were measured, not numbers between them; the knee itself where there are no replicates."""
    levels = [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]
    low, high = np.quantile(depth if len(depth) == 1 else depth[1:], levels, method="inverted_cdf").tolist()
    return min(int(low), int(depth[0])), max(int(high), int(depth[0]))
