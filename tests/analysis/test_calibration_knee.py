"""Two knees and the most throughput: where a known curve has them, and how often their intervals hold that."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import simulated_storage

from dbdyno.analysis.calibration import knee
from dbdyno.analysis.calibration.knee import DepthBlocks, Knee
from dbdyno.analysis.calibration.log_bins import bins_of

DEPTHS = (1, 2, 4, 8, 16, 32, 64)
WINDOW_NS = 400_000_000


def response_time_ns(depth: int) -> float:
    """Of a device that does 80,000 I/Os a second at most, 60 us each by themselves: both parts felt, smoothly."""
    return float(((60e3) ** 3 + (depth * 12.5e3) ** 3) ** (1 / 3))


def iops(depth: int) -> float:
    """By Little's law."""
    return depth / response_time_ns(depth) * 1e9


def sweep(random: np.random.Generator, blocks: int = 12, noise: float = 0.05, shape: float = 0.3) -> list[DepthBlocks]:
    """Every depth once a block; the whole block is faster or slower, and each depth in it a little by itself."""
    together = noise * simulated_storage.ar1(random, blocks, 0.5)
    return [cell(random, depth, together + noise / 3 * random.normal(size=blocks), shape) for depth in DEPTHS]


def cell(random: np.random.Generator, depth: int, slower: np.ndarray, shape: float) -> DepthBlocks:
    """The blocks of one depth; 2,000 I/Os of a block stand for all of them in its histogram."""
    mean_ns = response_time_ns(depth) * np.exp(slower)
    ios = np.round(depth / mean_ns * WINDOW_NS).astype(np.int64)
    counts = [
        np.bincount(bins_of(one * np.exp(random.normal(-(shape**2) / 2, shape, 2_000))), minlength=400)
        for one in mean_ns
    ]
    return DepthBlocks(
        depth, ios, np.full(len(ios), WINDOW_NS), np.round(ios * mean_ns).astype(np.int64), np.asarray(counts)
    )


TRUE_POWER = max(DEPTHS, key=lambda depth: iops(depth) / response_time_ns(depth))
TRUE_P99 = max(depth for depth in DEPTHS if response_time_ns(depth) <= 2 * response_time_ns(1))


def test_a_quiet_curve_shows_its_knees() -> None:
    """Without noise the depths are those of the formulas, with no doubt about them."""
    of = knee.curve(sweep(np.random.default_rng(1), noise=1e-4), seed=1)
    power, p99, most = knee.power_knee(of), knee.p99_knee(of), knee.most_throughput(of)

    assert p99 is not None
    assert [(one.depth, one.depth_low, one.depth_high) for one in (power, p99, most)] == [
        (TRUE_POWER, TRUE_POWER, TRUE_POWER),
        (TRUE_P99, TRUE_P99, TRUE_P99),
        (64, 64, 64),
    ]
    assert [one.iops.estimate for one in (power, p99, most)] == pytest.approx(
        [iops(TRUE_POWER), iops(TRUE_P99), iops(64)], rel=1e-3
    )
    assert [one.formula for one in (power, most)] == ["max X/R", "max X"]


def test_a_budget_takes_the_place_of_the_doubled_p99() -> None:
    """A budget in ns gives the depth that keeps it; one that even the smallest depth breaks gives none."""
    of = knee.curve(sweep(np.random.default_rng(1), noise=1e-4), seed=1)
    found = knee.p99_knee(of, budget_ns=round(response_time_ns(16) * 2.05))

    assert found is not None
    assert (found.depth, found.formula) == (16, f"largest depth with p99 <= {round(response_time_ns(16) * 2.05)} ns")
    assert knee.p99_knee(of, budget_ns=1_000) is None


def test_depths_may_come_in_any_order() -> None:
    """And the same seed gives the same knee."""
    cells = sweep(np.random.default_rng(1))

    assert knee.power_knee(knee.curve(cells, 3)) == knee.power_knee(knee.curve(cells[::-1], 3))


def test_too_few_blocks_give_a_knee_without_interval() -> None:
    """Three blocks: the depth is what it is, and how well it is known is not said."""
    few = [
        dataclasses.replace(
            one,
            ios=one.ios[:3],
            window_ns=one.window_ns[:3],
            response_time_sum_ns=one.response_time_sum_ns[:3],
            response_time_counts=one.response_time_counts[:3],
        )
        for one in sweep(np.random.default_rng(1), noise=1e-4)
    ]
    found = knee.power_knee(knee.curve(few, seed=1))

    assert (found.depth, found.iops.low, found.iops.high) == (TRUE_POWER, None, None)


def holds(found: Knee | None, depth: int) -> tuple[bool, bool]:
    """Whether the intervals of depth and throughput hold the truth."""
    assert found is not None
    assert found.iops.low is not None
    assert found.iops.high is not None
    return found.depth_low <= depth <= found.depth_high, found.iops.low <= iops(depth) <= found.iops.high


@pytest.mark.parametrize("blocks", [8, 16])
def test_intervals_hold_the_true_knee(blocks: int) -> None:
    """In 40 noisy sweeps the intervals of depth and of throughput hold the truth in 36 at least, for both knees."""
    random = np.random.default_rng(20261122)
    hits = np.zeros((2, 2))
    for seed in range(40):
        of = knee.curve(sweep(random, blocks), seed)
        hits += [holds(knee.power_knee(of), TRUE_POWER), holds(knee.p99_knee(of), TRUE_P99)]

    assert hits.min() >= 36
