"""Metrics and parts of a profile in a reader's words; wait events keep the server's own names."""

from __future__ import annotations

METRICS = {
    "throughput_per_s": "throughput",
    "elapsed_ns": "elapsed time",
    "response_time_ns_mean": "mean response time",
    "response_time_ns_p50": "median response time",
    "response_time_ns_p95": "95th percentile of response time",
    "response_time_ns_p99": "99th percentile of response time",
}

PROFILE_PARTS = {
    "queue": "queue",
    "cpu": "CPU",
    "run_queue": "run queue",
    "asleep_no_wait_event": "asleep without a wait event",
    "client_and_network": "client and network",
    "unaccounted": "unaccounted",
}


def metric_name(metric: str) -> str:
    """What a metric is called in a sentence; one that is not known keeps its own name."""
    return METRICS.get(metric, metric)


def part_name(part: str) -> str:
    """What a part of a profile is called in a key or a table."""
    return PROFILE_PARTS.get(part, part)
