"""Whether the arm before leaves something behind: planted, and not planted on machines that drift."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import synthetic

from dbdyno.analysis.analyse import analyse
from dbdyno.analysis.carry_over import judged
from dbdyno.analysis.findings import CarryOver

RUNS = 2000


def machine_noise(kind: str, count: int, random: np.random.Generator) -> np.ndarray:
    """Log speeds of trials in the order of time: a quiet machine, or a shared one that drifts and has outliers."""
    if kind == "quiet":
        return random.normal(0.0, 0.02, count)
    shocks = random.normal(0.0, 0.024, count)
    slowness = np.zeros(count)
    for place in range(1, count):
        slowness[place] = 0.6 * slowness[place - 1] + shocks[place]
    outliers = np.where(random.random(count) < 0.03, random.exponential(0.25, count), 0.0)
    return slowness + np.linspace(0.0, random.uniform(-0.06, 0.06), count) + outliers


def simulated(kind: str, arms: int, blocks: int, random: np.random.Generator, left_behind: float = 0.0) -> CarryOver:
    """One run of which the last arm slows the trial after it by `left_behind`."""
    order = np.concatenate([random.permutation(arms) for _ in range(blocks)])
    before = np.concatenate([[-1], order[:-1]])
    speeds = machine_noise(kind, arms * blocks, random) + np.where(before == arms - 1, math.log1p(-left_behind), 0.0)
    grid, previous = np.empty((blocks, arms)), np.empty((blocks, arms), dtype=np.int64)
    rows = np.repeat(np.arange(blocks), arms)
    grid[rows, order], previous[rows, order] = speeds, before
    found = judged([f"arm {arm}" for arm in range(arms)], grid, previous)
    assert found is not None
    return found


@pytest.mark.parametrize(("kind", "arms", "blocks"), [("quiet", 4, 30), ("cloud", 4, 12), ("cloud", 2, 30)])
def test_false_alarms_stay_at_their_level(kind: str, arms: int, blocks: int) -> None:
    """At 1 %; 1.5 % of 2,000 runs is 2.2 standard errors above it."""
    random = np.random.default_rng(20261121)

    assert sum(simulated(kind, arms, blocks, random).told for _ in range(RUNS)) / RUNS <= 0.015


def test_a_planted_carry_over_is_found_with_its_size() -> None:
    """3 % behind one of four arms, 30 blocks: in 95 of 100 runs at least, blamed on the right arm."""
    random = np.random.default_rng(20261121)
    found = [simulated("quiet", 4, 30, random, left_behind=0.03) for _ in range(200)]
    sizes = [next(after.ratio for after in one.after if after.arm == "arm 3") for one in found]

    assert sum(one.told and one.after[0].arm == "arm 3" for one in found) >= 190
    assert np.median(sizes) == pytest.approx(0.97, abs=0.004)


def test_two_arms_give_the_size_too() -> None:
    """Where the trial before is nearly always the other arm, its effect is not shared out to the arm itself."""
    random = np.random.default_rng(20261121)
    told = [one for one in (simulated("quiet", 2, 60, random, left_behind=0.03) for _ in range(200)) if one.told]
    sizes = [{after.arm: after.ratio for after in one.after} for one in told]

    assert np.median([size["arm 1"] for size in sizes]) == pytest.approx(0.97, abs=0.006)
    # The same effect with the other sign, so the order is that of the arms on any processor.
    assert all([after.arm for after in one.after] == ["arm 0", "arm 1"] for one in told)


def test_a_whole_run_says_it_beside_every_verdict() -> None:
    """Planted in the trials of a run: the finding, the warning, and the caution."""
    run, machine, trials = synthetic.run(arms=4, blocks=20, seed=3, noise=0.01)
    for before, trial in itertools.pairwise(trials):
        if before["arm"] == "io-bound/nowait-batch":
            trial["outcome"]["throughput_per_s"] *= 0.95

    findings = analyse(run, machine, trials)

    assert findings.carry_over is not None
    assert findings.carry_over.told
    assert findings.carry_over.after[0].arm == "io-bound/nowait-batch"
    assert findings.carry_over.after[0].ratio == pytest.approx(0.95, abs=0.015)
    [warning] = [warning for warning in findings.warnings if warning.code == "carry_over"]
    assert warning.message.startswith("trials right after io-bound/nowait-batch were ")
    assert " worse than those after other arms (p " in warning.message
    assert all("carry_over" in comparison.limited_by for comparison in findings.comparisons)


def test_the_order_of_the_file_is_not_the_order_of_time() -> None:
    """Records in any order give the same finding."""
    run, machine, trials = synthetic.run(arms=4, blocks=10, seed=3, failed=[(2, "io-bound/wait-batch")])

    assert analyse(run, machine, trials[::-1]).carry_over == analyse(run, machine, trials).carry_over


def test_one_arm_leaves_nothing_to_compare() -> None:
    """No other arm, no question; too few trials after each, no answer."""
    one = {"io-bound/wait-immediate": synthetic.SHAPES["io-bound/wait-immediate"]}

    assert analyse(*synthetic.run(blocks=8, shapes=one)).carry_over is None
    assert analyse(*synthetic.run(arms=4, blocks=4)).carry_over is None
