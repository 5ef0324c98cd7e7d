"""Stacked bars of the parts of a time: one bar a row, whose whole length is the time itself.

| wait-batch              3.03 ms |
| ████████████▒▒▒▒▒▒░░            |   parts in one order, alike in every row
|            ├┤    ├─┤            |   at the end of a part, how far its length is known
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from dbdyno.analysis.findings import Estimate
from dbdyno.report.html import palette
from dbdyno.report.html.chart import GREY, Json, Panel, literal, panel, title
from dbdyno.report.html.palette import Fill
from dbdyno.report.html.quantity import Unit
from dbdyno.report.html.rows import Rows, lay_out

BAND_PX = 24
AXIS_PX = 46
# Whiskers of smaller parts would lie upon each other.
LEAST_SHARE_OF_WHISKER = 0.05


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """A part of the drawing: its name, its fill, and the parts of the profile that it holds."""

    name: str
    fill: Fill
    keys: tuple[str, ...]

    def time(self, times: Mapping[str, float]) -> float:
        """Its nanoseconds; a part that is not known takes no room."""
        return sum(times.get(key, 0.0) for key in self.keys)


@dataclasses.dataclass(frozen=True, slots=True)
class Stack:
    """One row: its label, the whole in nanoseconds, its parts, and the intervals of those that have one."""

    label: str
    whole_ns: float
    parts: Mapping[str, float]
    intervals: Mapping[str, Estimate] = dataclasses.field(default_factory=dict)


def stacked_panel(
    heading: str | None, spoken: str, stacks: Sequence[Stack], parts: Sequence[Part], unit: Unit, axis: str
) -> Panel:
    """A panel of rows on one scale."""
    rows = lay_out([(stack.label, unit.named(stack.whole_ns)) for stack in stacks], BAND_PX)
    return panel(
        heading,
        spoken,
        rows.height_px + AXIS_PX,
        [
            *(trace for part in parts if (trace := _bars(stacks, part, rows, unit))),
            *_whiskers(stacks, parts, rows, unit),
        ],
        x={"title": title(axis), "rangemode": "tozero"},
        y=rows.axis(),
        annotations=rows.notes,
        barmode="relative",
        bargap=0,
        shapes=[_zero(rows)],
    )


def _bars(stacks: Sequence[Stack], part: Part, rows: Rows, unit: Unit) -> Json | None:
    """One part in all rows; None where no row has any of it."""
    times = [part.time(stack.parts) for stack in stacks]
    if not any(times):
        return None
    name = literal(part.name)
    return {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "x": [time / unit.size for time in times],
        "y": [row.middle_px for row in rows.rows],
        "width": BAND_PX,
        "marker": {
            "color": part.fill.colour,
            "line": {"width": 0},
            "pattern": {"shape": part.fill.hatch, "size": 6, "solidity": 0.4},
        },
        "text": [
            f"<b>{name}</b><br>{literal(stack.label)}: {unit.named(time)}{_ends(stack, part, unit)}"
            for stack, time in zip(stacks, times, strict=True)
        ],
        "textposition": "none",
        "hovertemplate": "%{text}<extra></extra>",
    }


def _interval(stack: Stack, part: Part) -> tuple[float, float, float] | None:
    """Estimate and ends; of several parts drawn together there is none."""
    found = stack.intervals.get(part.keys[0]) if len(part.keys) == 1 else None
    return None if found is None or found.low is None or found.high is None else (found.estimate, found.low, found.high)


def _ends(stack: Stack, part: Part, unit: Unit) -> str:
    found = _interval(stack, part)
    return "" if found is None else f" ({unit.text(found[1])} to {unit.text(found[2])})"


def _whiskers(stacks: Sequence[Stack], parts: Sequence[Part], rows: Rows, unit: Unit) -> list[Json]:
    """The intervals of the larger parts, above all bars: each at the end of its part."""
    longest = max((stack.whole_ns for stack in stacks), default=0.0)
    x, y, more, less = [], [], [], []
    for stack, row in zip(stacks, rows.rows, strict=True):
        end = 0.0
        for part in parts:
            end += max(0.0, part.time(stack.parts))
            found = _interval(stack, part)
            if found and found[0] >= LEAST_SHARE_OF_WHISKER * longest:
                x.append(end / unit.size)
                y.append(row.middle_px)
                more.append((found[2] - found[0]) / unit.size)
                less.append((found[0] - found[1]) / unit.size)
    if not x:
        return []
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "name": "95 % intervals",
            "x": x,
            "y": y,
            "line": {"width": 0},
            "hoverinfo": "skip",
            "error_x": {
                "type": "data", "symmetric": False, "array": more, "arrayminus": less,
                "thickness": 1.6, "width": 4, "color": palette.NEUTRAL,
            },
        }
    ]  # fmt: skip


def _zero(rows: Rows) -> Json:
    return {
        "type": "line", "x0": 0, "x1": 0, "y0": 0, "y1": rows.height_px, "layer": "below",
        "line": {"color": GREY, "width": 1},
    }  # fmt: skip
