"""What the charts of a calibration share: lines with error bars, axes of sizes and depths, cells with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from dbdyno.analysis.calibration.findings import Latency
from dbdyno.analysis.findings import Estimate
from dbdyno.report.html.chart import Json, literal, title
from dbdyno.report.html.palette import Mark
from dbdyno.report.html.quantity import Unit
from dbdyno.report.html.table import Cell
from dbdyno.report.numbers import exact_size

# More labels than these do not fit beside each other on a telephone.
MOST_LABELS = 6
# An axis goes on beyond the outermost estimate for the ends of intervals, but no further than this: few blocks can give
# an interval over several powers of ten, which would press everything else flat.
REACH = 2.0
RATE = Unit("MB/s", 1e6)


def line(name: str, x: Sequence[float], y: Sequence[float], mark: Mark, words: Sequence[str], **more: Any) -> Json:
    """Points joined by a line; `words` stand over each point."""
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": literal(name),
        "x": list(x),
        "y": list(y),
        "line": {"color": mark.colour, "width": 2, "dash": mark.dash},
        "marker": {"color": mark.colour, "symbol": mark.symbol, "size": 8},
        "text": list(words),
        "hovertemplate": "%{text}<extra></extra>",
        **more,
    }


def bars(figures: Iterable[Estimate], colour: str, size: float = 1.0) -> Json:
    """The error bars of a trace's points; of no length where an interval is not known."""
    ends = [(one.estimate, one.low, one.high) for one in figures]
    return {
        "type": "data",
        "symmetric": False,
        "array": [0 if high is None else (high - at) / size for at, _, high in ends],
        "arrayminus": [0 if low is None else (at - low) / size for at, low, _ in ends],
        "thickness": 1.6,
        "width": 3,
        "color": colour,
    }


def highest(figures: Sequence[Estimate]) -> float:
    """The greatest end of some intervals, as far as an axis goes for it."""
    most = max((one.estimate for one in figures), default=0.0) or 1.0
    return min(max((one.high or one.estimate for one in figures), default=most), most * REACH)


def lowest(figures: Sequence[Estimate]) -> float:
    """The smallest end of some intervals, as far as an axis goes for it."""
    least = min(one.estimate for one in figures)
    return max(min(one.estimate if one.low is None else one.low for one in figures), least / REACH)


def leaving(from_zero: Sequence[Estimate], logarithmic: Sequence[Estimate] = ()) -> str:
    """A sentence for the caption where a bar is longer than the picture; empty where none is."""
    beyond = any((one.high or 0.0) > highest(every) for every in (from_zero, logarithmic) for one in every)
    beneath = any(one.low is not None and one.low < lowest(logarithmic) for one in logarithmic)
    return " Where a bar leaves the picture, the table has its end." if beyond or beneath else ""


def from_zero(heading: str, most: float) -> Json:
    """A linear axis from zero with a little air above."""
    return {"title": title(heading), "range": [0, (most or 1.0) * 1.12], "nticks": 5, "tickformat": ",~r"}


def depth_axis(depths: Sequence[int]) -> Json:
    """A logarithmic axis on which the depths that were measured are the ticks."""
    return _logarithmic("depth (reads at a time)", depths, [str(depth) for depth in depths], most=10)


def size_axis(heading: str, sizes: Sequence[int]) -> Json:
    """A logarithmic axis on which sizes that were measured are the ticks."""
    return _logarithmic(heading, sizes, [exact_size(size) for size in sizes], most=MOST_LABELS)


def _logarithmic(heading: str, values: Sequence[int], words: Sequence[str], most: int) -> Json:
    every = -(-len(values) // most)
    return {
        "title": title(heading),
        "type": "log",
        "tickmode": "array",
        "tickvals": list(values[::every]),
        "ticktext": list(words[::every]),
        "showgrid": False,
        "showline": True,
    }


def figure(estimate: Estimate | None, unit: Unit) -> Cell:
    """A cell of a table: the estimate, and its interval fainter."""
    if estimate is None:
        return Cell("too few")
    return Cell(unit.text(estimate.estimate), interval(estimate, unit))


def times(latency: Latency, unit: Unit) -> list[Cell]:
    """Mean and percentiles, a cell each."""
    figures = (latency.mean_ns, latency.p50_ns, latency.p90_ns, latency.p99_ns, latency.p999_ns)
    return [figure(one, unit) for one in figures]


def interval(estimate: Estimate, unit: Unit) -> str:
    """The ends of an interval; empty where there is none."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f"{unit.text(estimate.low)} to {unit.text(estimate.high)}"


def named(estimate: Estimate, unit: Unit) -> str:
    """The estimate and its interval in one line, for what stands over a point."""
    within = interval(estimate, unit)
    return f"{unit.named(estimate.estimate).rstrip()}{f' ({within})' if within else ''}"
