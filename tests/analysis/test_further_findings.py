"""What a run says beside its verdicts: other metrics, interactions, the null arm, what it will be able to tell."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from typing import Any

import pytest
import synthetic
from scipy import stats

from dbdyno.analysis.analyse import analyse
from dbdyno.analysis.binomial import central_range
from dbdyno.analysis.exploratory import benjamini_hochberg
from dbdyno.analysis.findings import Outlook
from dbdyno.analysis.judging import pairs
from dbdyno.analysis.outlook import outlook


def test_benjamini_hochberg_agrees_with_scipy() -> None:
    """Ties and all."""
    p_values = [0.03, 0.001, 0.2, 0.03, 0.9, 0.004, 1.0]

    assert benjamini_hochberg(p_values) == pytest.approx(stats.false_discovery_control(p_values).tolist(), rel=1e-14)
    assert benjamini_hochberg([]) == []


def test_other_metrics_are_explored() -> None:
    """All that the trials have, each pair on each, and none of them the run's own."""
    run, machine, trials = synthetic.run(arms=4, blocks=10, noise=0.01)
    found = analyse(run, machine, trials).exploratory

    assert Counter(one.metric for one in found) == {
        "response_time_ns_mean": 3, "response_time_ns_p50": 3, "response_time_ns_p95": 3, "response_time_ns_p99": 3,
    }  # fmt: skip
    told = {(one.arm, one.metric): one.told for one in found}
    assert told["io-bound/nowait-immediate", "response_time_ns_mean"]
    p_values = [one.p_value for one in found]
    assert [one.p_value_bh for one in found] == pytest.approx(stats.false_discovery_control(p_values).tolist())


def test_a_percentile_needs_units_beyond_it() -> None:
    """With 400 units a trial there are 20 beyond the p95 and 4 beyond the p99."""
    shapes = {name: dataclasses.replace(shape, cpu=12_000_000) for name, shape in synthetic.SHAPES.items()}
    run, machine, trials = synthetic.run(arms=2, blocks=6, shapes=shapes)
    fewest = min(trial["outcome"]["response_time"]["count"] for trial in trials)
    found = {one.metric for one in analyse(run, machine, trials).exploratory}

    assert 200 <= fewest < 1000
    assert found == {"response_time_ns_mean", "response_time_ns_p50", "response_time_ns_p95"}


def test_an_effect_that_depends_on_another_factor() -> None:
    """Relaxed commits help where a run waits for flushes, and not where it computes."""
    run, machine, trials = synthetic.run(arms=8, blocks=12, noise=0.01)
    found = {one.arm: one for one in analyse(run, machine, trials).interactions}
    effects = {one.arm: one.ratio.estimate for one in analyse(run, machine, trials).comparisons}
    relaxed = found["cpu-bound/nowait-immediate"]

    assert len(found) == 3
    assert (relaxed.other_arm, relaxed.other_baseline) == ("io-bound/nowait-immediate", "io-bound/wait-immediate")
    assert relaxed.told
    expected = effects["cpu-bound/nowait-immediate"] / effects["io-bound/nowait-immediate"]
    assert relaxed.ratio.estimate == pytest.approx(expected, rel=0.03)


def test_one_factor_has_no_interaction() -> None:
    """Nothing to depend on."""
    assert analyse(*synthetic.run(arms=4, blocks=6)).interactions == []


def test_all_pairs_of_one_baseline() -> None:
    """Six of four arms, each under its own load; Holm over all twelve."""
    run, machine, trials = synthetic.run(arms=8, blocks=12, noise=0.01)
    run["all_pairs"] = True
    found = analyse(run, machine, trials)

    assert len(found.comparisons) == 12
    assert len(found.interactions) == 3
    assert ("io-bound/nowait-batch", "io-bound/nowait-immediate") in pairs(run)
    assert ("cpu-bound/wait-immediate", "io-bound/wait-immediate") not in pairs(run)


def with_null_arm(**keys: Any) -> tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]]:
    """A run in which the second arm is a copy of the first."""
    shape = synthetic.SHAPES["io-bound/wait-immediate"]
    shapes = {"io-bound/base": shape, "io-bound/copy": shape, "io-bound/slow": dataclasses.replace(shape, cpu=10**6)}
    run, machine, trials = synthetic.run(arms=3, blocks=10, shapes=shapes, noise=0.01, **keys)
    run["arms"][1]["null"] = True
    return run, machine, trials


def test_the_null_arm_is_no_comparison_but_counts_false_alarms() -> None:
    """It takes no power from the real ones; the runs before stand in the machine's record."""
    run, machine, trials = with_null_arm()
    machine["null_arms"] = {"runs": 39, "different": 3}
    found = analyse(run, machine, trials)

    assert [one.arm for one in found.comparisons] == ["io-bound/slow"]
    assert found.comparisons[0].p_value_holm == found.comparisons[0].p_value
    assert found.null_arm is not None
    assert (found.null_arm.arm, found.null_arm.different) == ("io-bound/copy", False)
    assert found.null_arm.on_this_machine.runs == 40
    assert found.null_arm.on_this_machine.different == 3
    assert (found.null_arm.on_this_machine.expected_least, found.null_arm.on_this_machine.expected_most) == (0, 5)


def test_a_run_without_a_null_arm_says_nothing_of_one() -> None:
    """Nor does one with too few blocks."""
    assert analyse(*synthetic.run(arms=2, blocks=6)).null_arm is None
    run, machine, trials = with_null_arm()
    assert analyse(run, machine, trials[: 3 * 5]).null_arm is None


@pytest.mark.parametrize(("tries", "chance"), [(1, 0.05), (20, 0.05), (60, 0.05), (200, 0.05), (60, 0.95)])
def test_central_ranges_agree_with_scipy(tries: int, chance: float) -> None:
    """At most 2.5 % lie beyond each end."""
    fewest, most = central_range(tries, chance)
    distribution = stats.binom(tries, chance)

    assert distribution.cdf(fewest - 1) <= 0.025 < distribution.cdf(fewest)
    assert distribution.sf(most) <= 0.025 < distribution.sf(most - 1)


def test_what_a_run_will_be_able_to_tell() -> None:
    """From 8 blocks; the effect that it promises to find is found in 4 of 5 runs of normal noise."""
    run, _, trials = synthetic.run(arms=2, blocks=8, noise=0.02, seed=4)
    run.update(blocks=30, looks=[30])

    found = outlook(run, trials)

    assert found is not None
    expected_sigma = 0.02 * math.sqrt(2)
    assert found.smallest_effect == pytest.approx((1.96 + 0.84) * expected_sigma / math.sqrt(30), rel=0.5)
    assert found.within_reach is (found.smallest_effect <= 0.03)
    assert outlook(run, trials[:14]) is None
    assert outlook({**run, "until_decided": True}, trials) is None


def test_what_would_bring_the_margin_into_reach() -> None:
    """More blocks, which scale with the square of the noise."""
    run, _, trials = synthetic.run(arms=2, blocks=8, noise=0.10, seed=4)
    run.update(blocks=30, looks=[30])
    found = outlook(run, trials)

    assert isinstance(found, Outlook)
    assert not found.within_reach
    assert found.blocks_for_margin is not None
    reach = math.log1p(found.smallest_effect) * math.sqrt(30 / found.blocks_for_margin)
    assert reach == pytest.approx(math.log1p(0.03), rel=0.01)


def test_a_percentile_as_the_metric_needs_units_beyond_it() -> None:
    """With 600 units a trial a p99 is a maximum by another name: a warning stands beside each verdict."""
    run, machine, trials = synthetic.run(arms=2, blocks=8, metric="response_time_ns_p99", clients=2)
    found = analyse(run, machine, trials)

    assert min(trial["outcome"]["response_time"]["count"] for trial in trials) < 1000
    assert "few_units" in {warning.code for warning in found.warnings}
    assert "few_units" in found.comparisons[0].limited_by
    run["metric"] = "response_time_ns_mean"
    assert "few_units" not in {warning.code for warning in analyse(run, machine, trials).warnings}
