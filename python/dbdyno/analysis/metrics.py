"""What may be compared: one figure of one trial, and which way is better."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

import numpy as np

from dbdyno.analysis.documents import Document
from dbdyno.analysis.histograms import decoded
from dbdyno.analysis.limits import LEAST_UNITS_BEYOND

HIGHER_IS_BETTER: Mapping[str, bool] = {
    "throughput_per_s": True,
    "rows_per_s": True,
    "bytes_per_s": True,
    "elapsed_ns": False,
    "response_time_ns_mean": False,
    "response_time_ns_p50": False,
    "response_time_ns_p95": False,
    "response_time_ns_p99": False,
}
PERCENTILES: Mapping[str, float] = {"p50": 0.50, "p95": 0.95, "p99": 0.99}


def units_for(metric: str) -> int:
    """How many units a trial needs for its percentile to have enough of them beyond it; 1 for any other metric."""
    share = PERCENTILES.get(metric.rpartition("_")[2])
    return 1 if share is None else round(LEAST_UNITS_BEYOND / (1.0 - share))


def values(metric: str, arm: Document, trials: Sequence[Document]) -> list[float]:
    """The figure of each of some counted trials; every one of these metrics is positive.

    Args:
        metric: a key of `HIGHER_IS_BETTER`.
        arm: the arm's entry in the run document.
        trials: trials that are ok.
    """
    outcomes = [trial["outcome"] for trial in trials]
    if metric == "throughput_per_s":
        return [float(outcome["throughput_per_s"]) for outcome in outcomes]
    if metric == "rows_per_s":
        return [float(outcome["throughput_per_s"]) * float(arm["rows_per_unit"]) for outcome in outcomes]
    if metric == "bytes_per_s":
        return [float(outcome["throughput_per_s"]) * float(arm["bytes_per_unit"]) for outcome in outcomes]
    if metric == "elapsed_ns":
        return [float(outcome["elapsed_ns"]) for outcome in outcomes]
    return clock_figures([outcome["response_time"] for outcome in outcomes])[metric.rpartition("_")[2]]


def clock_figures(clocks: Sequence[Document]) -> dict[str, list[float]]:
    """Mean and percentiles of one clock in ns, each by trial."""
    percentiles = _percentiles(tuple(clock["histogram"] for clock in clocks))
    return {
        "mean": [clock["sum_ns"] / clock["count"] for clock in clocks],
        **dict(zip(PERCENTILES, percentiles, strict=True)),
    }


@functools.lru_cache(maxsize=256)  # an arm's figures are asked for by its table, and by each metric that is compared
def _percentiles(histograms: tuple[str, ...]) -> list[list[float]]:
    found = decoded(histograms).quantiles_ns(list(PERCENTILES.values()))
    by_percentile: list[list[float]] = found.astype(np.float64).T.tolist()
    return by_percentile
