"""Metrics as headings and captions call them."""

from __future__ import annotations

from dbdyno.report.sentences import METRIC_NAMES


def metric_name(metric: str) -> str:
    """A metric without its article; one that is not known keeps its own name."""
    return METRIC_NAMES.get(metric, metric).removeprefix("the ")
