"""What every forest plot is made of: a mark with its interval on each row, the line at 1x, the margin, the keys."""

from __future__ import annotations

from dbdyno.analysis.findings import Estimate
from dbdyno.report.html import palette
from dbdyno.report.html.chart import BAND, Json, Key, interval_bar, literal
from dbdyno.report.html.palette import Fill, Mark
from dbdyno.report.html.rows import Row, Rows
from dbdyno.report.numbers import percent

# Beneath the rows: the axis with its ticks.
AXIS_PX = 42

DECIDED = {"better": Mark(palette.BETTER, "square"), "worse": Mark(palette.WORSE, "square")}
UNDECIDED = Mark(palette.NEUTRAL, "circle")


def mark_of(verdict: str | None) -> Mark:
    """Colour and shape say which way it is decided, or that it is not."""
    return DECIDED.get(verdict or "", UNDECIDED)


def marked(name: str, effect: Estimate, row: Row, mark: Mark, hover: str, size_px: int = 9) -> Json:
    """The trace of one row; `hover` is already literal."""
    trace: Json = {
        "type": "scatter",
        "mode": "markers",
        "name": literal(name),
        "x": [effect.estimate],
        "y": [row.middle_px],
        "marker": {"symbol": mark.symbol, "size": size_px, "color": mark.colour},
        "text": [hover],
        "hovertemplate": "%{text}<extra></extra>",
        "cliponaxis": False,
    }
    return trace | interval_bar(effect, mark.colour)


def margin_band(rows: Rows, margin: float) -> Json:
    """The changes that do not matter."""
    return {
        "type": "rect", "x0": 1 / (1 + margin), "x1": 1 + margin, "y0": 0, "y1": rows.height_px,
        "fillcolor": BAND, "line": {"width": 0}, "layer": "below",
    }  # fmt: skip


def unity(rows: Rows) -> Json:
    """The line of no change."""
    return {
        "type": "line", "x0": 1, "x1": 1, "y0": 0, "y1": rows.height_px,
        "line": {"color": palette.NEUTRAL, "width": 1}, "layer": "below",
    }  # fmt: skip


def verdict_keys() -> list[Key]:
    """What the marks mean."""
    return [
        Key("better", DECIDED["better"]),
        Key("worse", DECIDED["worse"]),
        Key("same, small or undecided", UNDECIDED),
    ]


def margin_key(margin: float) -> Key:
    """What the band means."""
    return Key(f"margin of {percent(margin)}", Fill(palette.BAND_KEY))
