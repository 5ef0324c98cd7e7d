"""The cache map: how long one read takes within spans of growing size; a step upwards is the edge of a cache."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dbdyno.analysis.calibration.findings import Calibration, Span
from dbdyno.report.calibration.words import cache_sentence
from dbdyno.report.html import palette
from dbdyno.report.html.calibration.drawing import bars, leaving, line, lowest, named, size_axis, times
from dbdyno.report.html.chart import BAND, Chart, Json, Key, Panel, note, panel, title
from dbdyno.report.html.palette import Fill, Mark
from dbdyno.report.html.quantity import time_unit, whole
from dbdyno.report.html.scale import time_axis
from dbdyno.report.html.table import Cell, Column, Section, Table
from dbdyno.report.numbers import exact_size

HEIGHT_PX = 300
MEDIAN = Mark(palette.P50, "circle")


def chart(calibration: Calibration) -> Chart | None:
    """One panel; None where no span was measured."""
    spans = calibration.spans
    if not spans:
        return None
    return Chart(
        id="cache",
        short="Cache map",
        heading="Is there a cache in between?",
        words=[("Verdict", cache_sentence(calibration))],
        caption=(
            "Response time of one random read at a time within spans of growing size: the median with its 95 % "
            "interval, and the bands up to p90 and p99." + leaving([], [span.latency.p50_ns for span in spans])
        ),
        reading=(
            "What fits into a cache is read again and again, and is fast; what does not comes from the storage. So the "
            "median steps up where a span outgrows a cache. The spans were measured in short blocks in random order, "
            "so that a slow minute falls on all of them. A device that is a cache throughout, or whose cache is "
            "smaller than the smallest span, shows no step."
        ),
        panels=[_panel(calibration)],
        keys=[
            Key("median", MEDIAN),
            Key("up to p90", Fill(palette.translucent(palette.P50, 0.4))),
            Key("up to p99", Fill(palette.translucent(palette.P50, 0.16))),
            *([Key("within the cache", Fill(palette.BAND_KEY))] if calibration.cache else []),
        ],
        tables=[("The same as figures", _table(calibration))],
    )


def _panel(calibration: Calibration) -> Panel:
    spans = calibration.spans
    sizes = [span.span_bytes for span in spans]
    p50s = [span.latency.p50_ns for span in spans]
    words = [_words(span) for span in spans]
    low = lowest(p50s)
    high = max(span.latency.p99_ns.estimate for span in spans)
    ends = [math.log10(sizes[0]) - 0.12, math.log10(sizes[-1]) + 0.12]
    return panel(
        None,
        "Response time by span. " + "; ".join(_spoken(span) for span in spans) + ". " + cache_sentence(calibration),
        HEIGHT_PX,
        [
            _edge(sizes, [one.estimate for one in p50s]),
            _edge(sizes, [span.latency.p90_ns.estimate for span in spans], 0.4),
            _edge(sizes, [span.latency.p99_ns.estimate for span in spans], 0.16),
            line("median", sizes, [one.estimate for one in p50s], MEDIAN, words, error_y=bars(p50s, MEDIAN.colour)),
        ],
        x=size_axis("span that is read", sizes) | {"range": ends},
        y=time_axis(low / 1.3, high * 1.5) | {"title": title("response time")},
        **_cache(calibration, ends[0]),
    )


def _edge(sizes: Sequence[int], times: Sequence[float], opacity: float | None = None) -> Json:
    """The upper edge of a band, filled down to the trace before it."""
    filled = {} if opacity is None else {"fill": "tonexty", "fillcolor": palette.translucent(palette.P50, opacity)}
    return {
        "type": "scatter", "mode": "lines", "x": list(sizes), "y": list(times), "hoverinfo": "skip",
        "line": {"width": 0, "color": palette.P50}, **filled,
    }  # fmt: skip


def _cache(calibration: Calibration, left: float) -> Json:
    """The shaded side on which spans are within the cache."""
    cache = calibration.cache
    if cache is None:
        return {}
    # The edge lies between the last span that fits and the first that does not.
    above = [span.span_bytes for span in calibration.spans if span.span_bytes > cache.bytes_]
    edge = math.sqrt(cache.bytes_ * above[0]) if above else cache.bytes_
    shade = {
        "type": "rect", "yref": "paper", "y0": 0, "y1": 1, "x0": 10.0**left, "x1": edge, "fillcolor": BAND,
        "line": {"width": 0}, "layer": "below",
    }  # fmt: skip
    words = note(
        f"cache: {exact_size(cache.bytes_)} or more", x=math.log10(edge), y=0.95, yref="paper", xanchor="right"
    )
    return {"shapes": [shade], "annotations": [words]}


def _words(span: Span) -> str:
    p50 = span.latency.p50_ns
    return f"<b>{exact_size(span.span_bytes)}</b><br>median {named(p50, time_unit([p50.estimate]))}"


def _spoken(span: Span) -> str:
    p50 = span.latency.p50_ns
    return f"{exact_size(span.span_bytes)}: {named(p50, time_unit([p50.estimate]))}"


def _table(calibration: Calibration) -> Table:
    spans = calibration.spans
    unit = time_unit(span.latency.mean_ns.estimate for span in spans)
    rows = [
        [
            Cell(exact_size(span.span_bytes)),
            Cell(whole(span.latency.ios)),
            *times(span.latency, unit),
        ]
        for span in spans
    ]
    columns = [
        Column("span", figures=False),
        Column("reads"),
        *(Column(name, unit.name) for name in ("mean", "p50", "p90", "p99", "p99.9")),
    ]
    return Table("cache", columns, [Section(None, rows)])
