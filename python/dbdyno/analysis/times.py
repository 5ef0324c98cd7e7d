"""One of the clocks over an arm's trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dbdyno.analysis.estimates import pseudo_median
from dbdyno.analysis.findings import Times


def times(figures: Mapping[str, Sequence[float]]) -> Times:
    """Mean and percentiles, each estimated over the figures of the trials."""
    return Times(*(pseudo_median(figures[kind]) for kind in ("mean", "p50", "p95", "p99")))
