"""What is a cache: reads within a small span are faster than reads all over the file.

Spans are compared with the whole file within their blocks, so that a device that has slowed down meanwhile does not
look like a cache.
The step is at the largest span up to which all are faster: a span that is a little larger than the cache is partly in
it, so the cache's size lies between that span and the next.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import takewhile

from dbdyno.analysis.calibration.block_bootstrap import BlockBootstrap
from dbdyno.analysis.calibration.entries import Blocks, by_level, correlation_of, latency
from dbdyno.analysis.calibration.findings import Cache, Span
from dbdyno.analysis.documents import Document
from dbdyno.analysis.estimates import exponential
from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.holm import of_all
from dbdyno.analysis.signed_rank import hodges_lehmann, interval, p_value

# A span is faster if the whole file takes so many times as long; less has other reasons: shorter seeks, a table in the
# device's memory that maps pages.
LEAST_RATIO = 1.3
SIGNIFICANCE = 0.05


def spans(entries: Sequence[Document], seed: int) -> tuple[Span, ...]:
    """The latencies within each span."""
    found = by_level(entries, "cache_map", "span_bytes")
    correlation = correlation_of(found.values())
    return tuple(
        Span(span, times)
        for span, blocks in found.items()
        if (times := latency(blocks, BlockBootstrap.of(len(blocks.entries), correlation, seed))) is not None
    )


def cache(entries: Sequence[Document]) -> Cache | None:
    """The step between what is faster and what is not; None where there is none."""
    found = by_level(entries, "cache_map", "span_bytes")
    if len(found) < 2:
        return None
    *smaller, whole = found
    logs = {span: gain_logs(found[whole], found[span]) for span in smaller}
    p_values = dict(zip(logs, of_all([p_value(each) for each in logs.values()]), strict=True))
    inside = list(takewhile(lambda span: _is_faster(logs[span], p_values[span]), smaller))
    if not inside:
        return None
    edge = inside[-1]
    low, high = interval(logs[edge]) or (None, None)
    ratio = exponential(Estimate(hodges_lehmann(logs[edge]), low, high))
    mean_ns = found[edge].response_time_sum_ns.sum() / found[edge].ios.sum()
    return Cache(edge, float(mean_ns), ratio, p_values[edge] or 0.0)


def _is_faster(logs: Sequence[float], p: float | None) -> bool:
    return p is not None and p < SIGNIFICANCE and hodges_lehmann(logs) > math.log(LEAST_RATIO)


def gain_logs(whole: Blocks, span: Blocks) -> list[float]:
    """How many times as long a read all over the file takes as one within a span, by block, as a logarithm."""
    of_whole = {entry["block"]: entry["outcome"]["response_time"] for entry in whole.entries}
    found = []
    for entry in span.entries:
        mine, theirs = entry["outcome"]["response_time"], of_whole.get(entry["block"])
        if theirs and mine["count"] and theirs["count"]:
            found.append(math.log(theirs["sum_ns"] / theirs["count"]) - math.log(mine["sum_ns"] / mine["count"]))
    return found
