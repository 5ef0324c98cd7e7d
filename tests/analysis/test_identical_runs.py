"""Real A/A experiments, kept as data: the method calls identical arms different as seldom as it promises.

The bounds are what 95 of 100 such counts lie in. The data do not change, so neither does the outcome.
"""

from __future__ import annotations

import functools
from collections import Counter

import identical_runs
import pytest
from identical_runs import METRICS, Experiment, Judged, binomial_range


@functools.cache
def experiments() -> list[Experiment]:
    """All of the file."""
    return identical_runs.experiments()


@functools.cache
def judged(metric: str) -> list[Judged]:
    """Every experiment on one metric."""
    return [identical_runs.judge(each, metric) for each in experiments()]


def test_the_data_are_whole() -> None:
    """At least 60 experiments of 3 workloads; in each 20 blocks, in which every arm appears once, in order of time."""
    assert len(experiments()) >= 60
    assert [each.number for each in experiments()] == list(range(1, len(experiments()) + 1))
    assert len({each.workload for each in experiments()}) == 3
    places = [(str(block), str(position)) for block in range(20) for position in range(4)]
    for each in experiments():
        assert [(trial["block"], trial["position"]) for trial in each.trials] == places
        assert Counter((trial["block"], trial["arm"]) for trial in each.trials) == Counter(
            (str(block), arm) for block in range(20) for arm in "1234"
        )
        started = [trial["started_at"] for trial in each.trials]
        assert started == sorted(started)


@pytest.mark.parametrize("metric", METRICS)
def test_false_positives_are_as_rare_as_promised(metric: str) -> None:
    """Of all comparisons of an experiment after Holm, and of one comparison in each."""
    low, high = binomial_range(len(experiments()), 0.05)

    assert low <= sum(each.alarm_after_holm for each in judged(metric)) <= high
    assert low <= sum(each.alarm_of_pair for each in judged(metric)) <= high


@pytest.mark.parametrize("metric", METRICS)
def test_intervals_hold_the_truth(metric: str) -> None:
    """That the ratio is 1, in 95 of 100."""
    low, high = binomial_range(len(experiments()), 0.95)

    assert low <= sum(each.pair_holds_truth for each in judged(metric)) <= high


def test_the_usual_layout_would_have_found_differences() -> None:
    """The same trials, first half A and second half B, Welch's t-test: data on which it passed would prove nothing."""
    alarms = sum(each.alarm_of_usual_layout for each in judged("throughput_per_s"))

    assert alarms > 2 * binomial_range(len(experiments()), 0.05)[1]
