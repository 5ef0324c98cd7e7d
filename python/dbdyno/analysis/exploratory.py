"""The metrics that the run did not name: looked at as well, and labelled so.

One metric is named before a run starts, and its verdicts keep their promise whatever the others show. The others are
many, so some look different by chance: Benjamini and Hochberg's correction (1995) over all of them keeps the share of
false alarms among those that are told at 5 %. A percentile is asked only where every trial has units beyond it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dbdyno.analysis.blocks import Block, log_ratios
from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Exploratory
from dbdyno.analysis.holm import SIGNIFICANCE, of_all
from dbdyno.analysis.judging import Pair, figures, ratio_of
from dbdyno.analysis.metrics import HIGHER_IS_BETTER, units_for
from dbdyno.analysis.readings import reading_of


def explore(run: Document, blocks: Mapping[int, Block], compared: Sequence[Pair]) -> list[Exploratory]:
    """Each of these pairs on each other metric that the trials have; `blocks` are the counted ones, at least one."""
    if not compared:
        return []
    reading = reading_of(run, len(blocks))
    asked = []
    for metric in _others(run, blocks):
        found = figures(run, blocks, metric)
        asked += [(metric, pair, log_ratios(found[pair[0]], found[pair[1]])) for pair in compared]
    p_values = [reading.p_value(logs) for _, _, logs in asked]
    adjusted = of_all(p_values, benjamini_hochberg)
    return [
        Exploratory(
            arm=pair[0],
            baseline=pair[1],
            metric=metric,
            higher_is_better=HIGHER_IS_BETTER[metric],
            ratio=ratio_of(logs, reading, 0.95),
            p_value=p,
            p_value_bh=p_bh,
            told=p_bh is not None and p_bh < SIGNIFICANCE,
        )
        for (metric, pair, logs), p, p_bh in zip(asked, p_values, adjusted, strict=True)
    ]


def _others(run: Document, blocks: Mapping[int, Block]) -> list[str]:
    trials = [trial for block in blocks.values() for trial in block.values()]
    counts = [trial["outcome"]["response_time"]["count"] for trial in trials]
    fewest = min(counts)
    has_rows = all(arm["rows_per_unit"] for arm in run["arms"])
    fixed_work = all(arm.get("fixed_units") is not None for arm in run["arms"])
    has_bytes = all(arm.get("bytes_per_unit") for arm in run["arms"])
    # Of the same work bytes per second is the elapsed time the other way round.
    has = {
        "rows_per_s": has_rows,
        "bytes_per_s": has_bytes and not fixed_work,
        "elapsed_ns": fixed_work and run["metric"] != "bytes_per_s",
        "throughput_per_s": not fixed_work,
        # Of a single unit the mean is the elapsed time once more.
        "response_time_ns_mean": run["metric"] != "elapsed_ns" or max(counts) > 1,
    }
    return [
        metric
        for metric in HIGHER_IS_BETTER
        if metric != run["metric"] and has.get(metric, True) and fewest >= units_for(metric)
    ]


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """The adjusted p values, in the order given."""
    if not p_values:
        return []
    order = np.argsort(p_values, kind="stable")
    count = len(order)
    scaled = np.asarray(p_values)[order] * count / np.arange(1, count + 1)
    falling = np.minimum.accumulate(scaled[::-1])[::-1]
    adjusted = np.empty(count)
    adjusted[order] = np.minimum(falling, 1.0)
    return [float(p) for p in adjusted]
