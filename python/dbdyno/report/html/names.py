"""Metrics in a reader's words."""

from __future__ import annotations

METRICS = {
    "throughput_per_s": "throughput",
    "elapsed_ns": "elapsed time",
    "response_time_ns_mean": "mean response time",
    "response_time_ns_p50": "median response time",
    "response_time_ns_p95": "95th percentile of response time",
    "response_time_ns_p99": "99th percentile of response time",
}


def metric_name(metric: str) -> str:
    """What a metric is called in a sentence; one that is not known keeps its own name."""
    return METRICS.get(metric, metric)
