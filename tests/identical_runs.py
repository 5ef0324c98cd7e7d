"""Real experiments on four identical arms, judged anew: tests/data/identical-runs.csv and what is to be found in it.

Whoever finds a difference there is wrong. Counted are false positives of the method (all comparisons of an experiment
after Holm, and one comparison of each), how often the 95 % interval holds the true ratio, which is 1, and what the
usual layout would have said: the same trials in the order of time, first half A, second half B, Welch's t-test.

    python tests/identical_runs.py
"""

from __future__ import annotations

import csv
import dataclasses
import itertools
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from scipy import stats

from dbdyno.analysis.blocks import log_ratios
from dbdyno.analysis.estimates import ratio
from dbdyno.analysis.holm import SIGNIFICANCE, holm
from dbdyno.analysis.signed_rank import p_value

DATA = Path(__file__).parent / "data" / "identical-runs.csv"
METRICS = (
    "throughput_per_s",
    "response_time_ns_mean",
    "response_time_ns_p50",
    "response_time_ns_p95",
    "response_time_ns_p99",
)
BASELINE, OTHERS = "1", ("2", "3", "4")


@dataclasses.dataclass(frozen=True, slots=True)
class Experiment:
    """One run: its trials in the order of time, a row of the file each."""

    number: int
    workload: str
    trials: Sequence[dict[str, str]]

    def counted(self) -> Sequence[dict[str, str]]:
        """Those of complete blocks: a trial in which no unit of work ended has no response times."""
        gaps = {trial["block"] for trial in self.trials if not trial["response_time_ns_mean"]}
        return [trial for trial in self.trials if trial["block"] not in gaps]

    def in_time(self, metric: str) -> list[float]:
        """One figure of each trial."""
        return [float(trial[metric]) for trial in self.counted()]

    def of(self, arm: str, metric: str) -> list[float]:
        """One figure of an arm's trials, by block."""
        own = sorted((int(trial["block"]), float(trial[metric])) for trial in self.counted() if trial["arm"] == arm)
        return [figure for _, figure in own]


def experiments() -> list[Experiment]:
    """All of the file."""
    with DATA.open(encoding="ascii", newline="") as file:
        rows = list(csv.DictReader(file))
    groups = [list(group) for _, group in itertools.groupby(rows, key=lambda row: row["experiment"])]
    return [Experiment(int(group[0]["experiment"]), group[0]["workload"], group) for group in groups]


@dataclasses.dataclass(frozen=True, slots=True)
class Judged:
    """What is said of one metric of one experiment. The pair is the first arm with the baseline."""

    alarm_after_holm: bool
    alarm_of_pair: bool
    pair_holds_truth: bool
    pair_half_width: float
    alarm_of_usual_layout: bool


def judge(experiment: Experiment, metric: str) -> Judged:
    """By the functions that judge a run."""
    baseline = experiment.of(BASELINE, metric)
    logs = [log_ratios(experiment.of(arm, metric), baseline) for arm in OTHERS]
    p_values = [p for p in map(p_value, logs) if p is not None]
    assert len(p_values) == len(OTHERS)
    pair = ratio(logs[0])
    assert pair.low is not None
    assert pair.high is not None
    return Judged(
        alarm_after_holm=min(holm(p_values)) < SIGNIFICANCE,
        alarm_of_pair=p_values[0] < SIGNIFICANCE,
        pair_holds_truth=pair.low <= 1 <= pair.high,
        pair_half_width=math.log(pair.high / pair.low) / 2,
        alarm_of_usual_layout=first_half_differs(experiment.in_time(metric)),
    )


def first_half_differs(figures: Sequence[float]) -> bool:
    """All of A, then all of B, and Welch's t-test."""
    half = len(figures) // 2
    return bool(stats.ttest_ind(figures[:half], figures[half:], equal_var=False).pvalue < SIGNIFICANCE)


def binomial_range(count: int, probability: float) -> tuple[int, int]:
    """What 95 of 100 such counts lie in, both ends included."""
    low, high = stats.binom.interval(0.95, count, probability)
    return int(low), int(high)


def table() -> Iterator[str]:
    """By metric and workload, and over all workloads."""
    yield (
        f"{'metric':<22} {'workload':<14} {'runs':>4} {'expected':>8} {'Holm':>5} {'pair':>5} {'covered':>8} "
        f"{'half-width':>10} {'A then B':>9}"
    )
    loaded = experiments()
    workloads = list(dict.fromkeys(each.workload for each in loaded))
    for metric in METRICS:
        for chosen in ([name] for name in workloads):
            yield line(metric, chosen[0], [judge(each, metric) for each in loaded if each.workload in chosen])
        yield line(metric, "all", [judge(each, metric) for each in loaded])


def line(metric: str, workload: str, judged: Sequence[Judged]) -> str:
    """One row."""
    low, high = binomial_range(len(judged), SIGNIFICANCE)
    return (
        f"{metric:<22} {workload:<14} {len(judged):>4} {f'{low}-{high}':>8} "
        f"{sum(each.alarm_after_holm for each in judged):>5} {sum(each.alarm_of_pair for each in judged):>5} "
        f"{sum(each.pair_holds_truth for each in judged):>8} "
        f"{100 * median(each.pair_half_width for each in judged):>8.1f} % "
        f"{sum(each.alarm_of_usual_layout for each in judged):>9}"
    )


if __name__ == "__main__":
    for row in table():
        print(row)
