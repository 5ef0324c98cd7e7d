"""Blocks as units: weights that are whole and seeded, and intervals that hold the truth although blocks are alike."""

from __future__ import annotations

import numpy as np
import pytest
import simulated_storage

from dbdyno.analysis.calibration.block_bootstrap import BlockBootstrap, lag_one, run_length
from dbdyno.analysis.findings import Estimate


def held(blocks: int, correlation: float, repeats: int, seed: int = 20261122) -> float:
    """The share of repeats in which the interval of a rate of 1000 holds it; blocks vary by 10 %."""
    random = np.random.default_rng(seed)
    count = 0
    for series in 1000 * np.exp(0.1 * simulated_storage.ar1(random, (repeats, blocks), correlation)):
        bootstrap = BlockBootstrap.of(blocks, lag_one([np.log(series)]), seed=1)
        found = bootstrap.estimate(bootstrap.totals(series) / blocks)
        assert found.low is not None
        assert found.high is not None
        count += found.low <= 1000 * np.exp(0.1**2 / 2) <= found.high
    return count / repeats


def test_the_data_come_first_and_every_row_counts_all_blocks() -> None:
    """The first replicate is the data themselves; each of the others has as many blocks in all."""
    weights = BlockBootstrap.of(20, 0.5, seed=3).weights

    assert weights[0].tolist() == [1.0] * 20
    assert weights.sum(axis=1) == pytest.approx(np.full(len(weights), 20.0))


def test_runs_of_neighbours_are_drawn_from_twelve_blocks_on() -> None:
    """The more alike the blocks, the longer the runs; eleven blocks are drawn one by one."""
    assert [run_length(11, 0.8), run_length(30, 0.0), run_length(30, 0.3), run_length(30, 0.6)] == [1, 1, 3, 5]

    drawn = BlockBootstrap.of(30, 0.6, seed=3).drawn[1:]
    begins = np.maximum(drawn - np.roll(drawn, 1, axis=1), 0).sum(axis=1)
    assert drawn.sum(axis=1).tolist() == [30.0] * len(drawn)
    assert begins.max() <= 6


def test_totals_of_any_shape() -> None:
    """Sums by block, and histograms by block, in one product each: the first row is the plain sum."""
    bootstrap = BlockBootstrap.of(12, 0.4, seed=3)
    counts = np.arange(12 * 7).reshape(12, 7)

    totals = bootstrap.totals(counts)

    assert totals[0].tolist() == counts.sum(axis=0).tolist()
    assert totals == pytest.approx(bootstrap.weights @ counts)


def test_the_seed_decides() -> None:
    """The same seed gives the same interval, another one another."""
    series = np.random.default_rng(5).normal(1000.0, 50.0, 12)

    def found(seed: int) -> Estimate:
        bootstrap = BlockBootstrap.of(12, 0.4, seed)
        return bootstrap.estimate(bootstrap.totals(series) / 12)

    assert found(1) == found(1)
    assert found(1) != found(2)


def test_three_blocks_have_no_interval() -> None:
    """And four have one."""
    three, four = (BlockBootstrap.of(blocks, 0.4, seed=1) for blocks in (3, 4))

    assert three.estimate(three.totals(np.asarray([1.0, 2.0, 3.0]))) == Estimate(6.0, None, None)
    assert four.estimate(four.totals(np.asarray([1.0, 2.0, 3.0, 4.0]))).low is not None


def test_correlation_is_found_in_many_blocks_and_believed_in_few() -> None:
    """400 blocks show theirs, whatever was believed before; four show nothing."""
    random = np.random.default_rng(5)

    assert lag_one([simulated_storage.ar1(random, 400, 0.7)]) == pytest.approx(0.7, abs=0.08)
    assert lag_one([random.normal(0.0, 1.0, 400)]) == pytest.approx(0.0, abs=0.08)
    assert lag_one([[1.0, 2.0, 3.0, 4.0]]) == 0.4


@pytest.mark.parametrize(("blocks", "least"), [(4, 0.92), (8, 0.92), (16, 0.92)])
def test_intervals_hold_the_truth_although_blocks_are_alike(blocks: int, least: float) -> None:
    """Neighbours correlate by 0.3, 200 series: Student's interval of independent blocks holds 0.86."""
    assert held(blocks, 0.3, 200) >= least


@pytest.mark.nightly
@pytest.mark.parametrize("blocks", [4, 6, 8, 12, 16, 30, 60])
@pytest.mark.parametrize(("correlation", "least"), [(0.0, 0.95), (0.3, 0.93), (0.6, 0.86)])
def test_intervals_hold_the_truth_in_thousands_of_series(blocks: int, correlation: float, least: float) -> None:
    """At 0.6 a few blocks cannot know how alike they are: 0.87 to 0.95 is what they get."""
    assert held(blocks, correlation, 4_000) >= least
