"""Noise of the host: which trials it hit, and whether it moved the metric. Planted, and not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import synthetic

from dbdyno.analysis.analyse import analyse
from dbdyno.analysis.findings import Findings, Noise
from dbdyno.analysis.residuals import aligned_rank_correlation, without_arm_and_block


def source(findings: Findings, name: str) -> Noise:
    """One source of noise."""
    return next(noise for noise in findings.noise if noise.source == name)


def disturbed_run(*, cost: float, metric: str = "throughput_per_s", **figures: float) -> tuple[Any, Any, Any]:
    """Every seventh trial has these figures of noise and is slower by `cost`; the others have a tenth of them."""
    run, machine, trials = synthetic.run(arms=4, blocks=20, seed=5, noise=0.01, metric=metric)
    for trial in trials:
        hit = trial["trial"] % 7 == 3
        trial["noise"] = {name: value if hit else value / 10 for name, value in figures.items()}
        if hit:
            trial["outcome"]["throughput_per_s"] *= 1 - cost
            trial["outcome"]["response_time"]["sum_ns"] = round(
                trial["outcome"]["response_time"]["sum_ns"] / (1 - cost)
            )
    return run, machine, trials


@pytest.mark.parametrize(("metric", "ratio"), [("throughput_per_s", 0.9), ("response_time_ns_mean", 1 / 0.9)])
def test_planted_noise_is_named_with_its_trials_and_its_cost(metric: str, ratio: float) -> None:
    """A tenth of the speed lost wherever others took 30 % of the CPUs, whichever way the metric counts."""
    findings = analyse(*disturbed_run(cost=0.1, metric=metric, other_cpu_share=0.3))
    found = source(findings, "other_cpu")

    assert found.trials_hit == list(range(3, 80, 7))
    assert (found.trials, found.share_max, found.limit) == (80, 0.3, 0.05)
    assert found.hit_ratio == pytest.approx(ratio, rel=0.02)
    assert found.told
    assert found.correlation is not None
    assert found.correlation < 0
    [warning] = [warning for warning in findings.warnings if warning.code == "noise"]
    assert warning.message.startswith("CPU of other processes hit 11 of 80 trials (up to 30 %), the more the worse;")


def test_noise_that_costs_nothing_is_seen_and_not_blamed() -> None:
    """It hit some trials, and the metric does not show it: no warning."""
    findings = analyse(*disturbed_run(cost=0.0, other_cpu_share=0.3))

    assert len(source(findings, "other_cpu").trials_hit) == 11
    assert not source(findings, "other_cpu").told
    assert "noise" not in [warning.code for warning in findings.warnings]


def test_noise_that_hits_many_trials_is_warned_of_all_the_same() -> None:
    """A host that is always busy has no quiet trials to compare with."""
    run, machine, trials = disturbed_run(cost=0.0, other_cpu_share=0.3)
    for trial in trials:
        trial["noise"]["other_cpu_share"] = 0.3
    findings = analyse(run, machine, trials)

    assert source(findings, "other_cpu").correlation is None
    [warning] = [warning for warning in findings.warnings if warning.code == "noise"]
    assert warning.message.startswith("CPU of other processes hit 80 of 80 trials (up to 30 %); nothing was dropped")


def test_the_pressure_of_the_load_itself_is_not_noise() -> None:
    """An arm that keeps the CPUs busy presses in every trial; what counts is a trial above its own arm."""
    run, machine, trials = synthetic.run(arms=2, blocks=10, seed=5)
    for trial in trials:
        busy = trial["arm"] == run["arms"][1]["arm"]
        trial["noise"] = {"cpu_pressure_some_share": 0.9 if busy else 0.1, "io_pressure_some_share": 0.2}
    trials[4]["noise"]["io_pressure_some_share"] = 0.31
    findings = analyse(run, machine, trials)

    assert source(findings, "cpu_pressure").trials_hit == []
    assert source(findings, "io_pressure").trials_hit == [4]


def test_the_clock_is_compared_with_the_runs_highest() -> None:
    """11 % below it is another regime, 9 % is not."""
    run, machine, trials = synthetic.run(arms=2, blocks=10, seed=5)
    for trial in trials:
        trial["noise"] = {"cpu_clock_hz": 3.0e9}
    trials[4]["noise"]["cpu_clock_hz"], trials[5]["noise"]["cpu_clock_hz"] = 2.67e9, 2.73e9
    found = source(analyse(run, machine, trials), "cpu_clock")

    assert found.trials_hit == [4]
    assert found.share_max == pytest.approx(0.11)


def test_a_few_bytes_of_others_are_no_share() -> None:
    """All of next to nothing is nothing."""
    run, machine, trials = synthetic.run(arms=2, blocks=10, seed=5)
    for trial in trials:
        trial["noise"] = {"other_disk_share": 0.0, "other_disk_bytes_per_s": 0.0}
    trials[4]["noise"] = {"other_disk_share": 0.9, "other_disk_bytes_per_s": 900_000.0}
    trials[5]["noise"] = {"other_disk_share": 0.9, "other_disk_bytes_per_s": 9e6}

    assert source(analyse(run, machine, trials), "other_disk").trials_hit == [5]


def test_runs_that_recorded_no_noise_have_none() -> None:
    """Old runs, and servers elsewhere; a source that some trials lack is listed and not tested."""
    run, machine, trials = synthetic.run(arms=2, blocks=10, seed=5)
    assert analyse(run, machine, trials).noise == []

    trials[4]["noise"] = {"other_cpu_share": 0.5}
    [found] = analyse(run, machine, trials).noise

    assert (found.trials, found.trials_hit, found.correlation, found.told) == (1, [4], None, False)


def test_what_a_trial_loses_shows_in_full_in_a_block_of_two() -> None:
    """Half of it would go to the other trial of the block if that were part of its own yardstick."""
    grid = np.random.default_rng(1).normal(0.0, 0.001, (12, 2)) + np.linspace(0.0, 0.5, 12)[:, None]
    grid[3, 1] += math.log(0.9)

    assert without_arm_and_block(grid)[3, 1] == pytest.approx(math.log(0.9), abs=0.01)


@pytest.mark.parametrize(("blocks", "arms"), [(12, 2), (12, 4), (30, 3)])
def test_unrelated_noise_is_told_as_often_as_promised(blocks: int, arms: int) -> None:
    """Both drift through the run, one jumps: p below 1 % in about 1 % of 3,000 pairs (1.5 %: 2.8 standard errors)."""
    random = np.random.default_rng(20261121)

    def unrelated() -> float:
        speeds = np.cumsum(random.normal(0.0, 0.01, blocks * arms)).reshape(blocks, arms)
        steal = np.abs(np.cumsum(random.normal(0.0, 0.01, blocks * arms))).reshape(blocks, arms)
        steal[random.random(steal.shape) < 0.05] += 0.2
        order = random.permuted(np.tile(np.arange(arms), (blocks, 1)), axis=1)
        left = [without_arm_and_block(np.take_along_axis(grid, order, axis=1)) for grid in (speeds, steal)]
        found = aligned_rank_correlation(*left)
        assert found is not None
        return found[1]

    assert sum(unrelated() < 0.01 for _ in range(3000)) / 3000 <= 0.015
