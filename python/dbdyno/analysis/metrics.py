"""What may be compared: one figure of one trial, and which way is better."""

from __future__ import annotations

from collections.abc import Mapping

from dbdyno.analysis.documents import Document
from dbdyno.analysis.histograms import quantiles_ns

HIGHER_IS_BETTER: Mapping[str, bool] = {
    "throughput_per_s": True,
    "rows_per_s": True,
    "elapsed_ns": False,
    "response_time_ns_mean": False,
    "response_time_ns_p50": False,
    "response_time_ns_p95": False,
    "response_time_ns_p99": False,
}
PERCENTILES: Mapping[str, float] = {"p50": 0.50, "p95": 0.95, "p99": 0.99}


def value(metric: str, arm: Document, trial: Document) -> float:
    """The figure of one counted trial; every one of these metrics is positive.

    Args:
        metric: a key of `HIGHER_IS_BETTER`.
        arm: the arm's entry in the run document.
        trial: a trial that is ok.
    """
    outcome = trial["outcome"]
    if metric == "throughput_per_s":
        return float(outcome["throughput_per_s"])
    if metric == "rows_per_s":
        return float(outcome["throughput_per_s"]) * float(arm["rows_per_unit"])
    if metric == "elapsed_ns":
        return float(outcome["elapsed_ns"])
    return clock_figures(outcome["response_time"])[metric.rpartition("_")[2]]


def clock_figures(clock: Document) -> dict[str, float]:
    """Mean and percentiles of one clock of one trial, in ns."""
    found = quantiles_ns([clock["histogram"]], list(PERCENTILES.values()))
    percentiles = dict(zip(PERCENTILES, map(float, found), strict=True))
    return {"mean": clock["sum_ns"] / clock["count"], **percentiles}
