"""Rows of bars with their intervals, the greatest first; those that were not told apart share a bracket.

    |  LWLock:WALWrite        3.40 s · 31 % |
    | ⎡██████████████████├──┤               |
    | ⎢ IO:WalSync            3.10 s · 28 % |
    | ⎣████████████████├───┤                |

The bracket stands in the margin at the left: its rows are not told apart from its first, the greatest.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Sequence

from dbdyno.analysis.findings import Estimate
from dbdyno.report.html import palette
from dbdyno.report.html.chart import GREY, Json, Key, Panel, interval_bar, literal, panel, title
from dbdyno.report.html.palette import Fill
from dbdyno.report.html.quantity import Unit
from dbdyno.report.html.rows import Row, Rows, lay_out

BAND_PX = 14
AXIS_PX = 46
# Beneath it a bar is too thin to see; every row stands in the table.
MOST_ROWS = 14

BRACKET_KEY = Key("[ in one bracket: not told apart from its first", None)


@dataclasses.dataclass(frozen=True, slots=True)
class Ranked:
    """One row: its name, what is written at its right, its fill and figure; `group` None where nothing is ranked.

    A faint one is drawn thin: the figure is not told from zero.
    """

    name: str
    words: str
    fill: Fill
    figure: Estimate
    group: int | None = None
    faint: bool = False


def ranked_panel(heading: str | None, spoken: str, shown: Sequence[Ranked], unit: Unit, axis: str) -> Panel:
    """A panel with a bar for each row, in `unit`."""
    rows = lay_out([(one.name, one.words) for one in shown], BAND_PX)
    return panel(
        heading,
        f"{spoken}: " + "; ".join(f"{one.name} {one.words}" for one in shown) + ".",
        rows.height_px + AXIS_PX,
        [_bar(one, row, unit) for one, row in zip(shown, rows.rows, strict=True)],
        x={"title": title(axis), "rangemode": "tozero"},
        y=rows.axis(),
        annotations=rows.notes,
        bargap=0,
        shapes=[_zero(rows), *_brackets(shown, rows.rows)],
    )


def bracketed(groups: Iterable[int | None]) -> bool:
    """Whether any two neighbours were not told apart."""
    return any(one == next_one is not None for one, next_one in itertools.pairwise(groups))


def rank_words(group: int, groups: Sequence[int]) -> str:
    """The place as sports reports give it: `2 =` where others share it."""
    return f"{group} =" if groups.count(group) > 1 else f"{group}"


def _bar(one: Ranked, row: Row, unit: Unit) -> Json:
    colour = palette.translucent(one.fill.colour) if one.faint else one.fill.colour
    scaled = _in_unit(one.figure, unit)
    trace: Json = {
        "type": "bar",
        "orientation": "h",
        "name": literal(one.name),
        "x": [scaled.estimate],
        "y": [row.middle_px],
        "width": BAND_PX,
        "marker": {
            "color": colour,
            "line": {"width": 0},
            "pattern": {"shape": one.fill.hatch, "size": 6, "solidity": 0.4},
        },
        "text": [f"<b>{literal(one.name)}</b><br>{literal(one.words)}"],
        "textposition": "none",
        "hovertemplate": "%{text}<extra></extra>",
    }
    return trace | interval_bar(scaled, palette.NEUTRAL, thickness=1.6, width=5)


def _in_unit(figure: Estimate, unit: Unit) -> Estimate:
    low, high = (None if end is None else end / unit.size for end in (figure.low, figure.high))
    return Estimate(figure.estimate / unit.size, low, high)


def _zero(rows: Rows) -> Json:
    return {
        "type": "line", "x0": 0, "x1": 0, "y0": 0, "y1": rows.height_px, "layer": "below",
        "line": {"color": GREY, "width": 1},
    }  # fmt: skip


def _brackets(shown: Sequence[Ranked], rows: Sequence[Row]) -> list[Json]:
    """A square bracket in the left margin over each stretch of rows of one group."""
    brackets = []
    for group, members in itertools.groupby(zip(shown, rows, strict=True), key=lambda pair: pair[0].group):
        held = [row for _, row in members]
        if group is None or len(held) < 2:
            continue
        top, bottom = held[0].top_px + 3, held[-1].band_bottom_px
        brackets.append(
            {
                "type": "path", "path": f"M -3 {top} L -7 {top} L -7 {bottom} L -3 {bottom}",
                "xref": "paper", "xsizemode": "pixel", "xanchor": 0, "yref": "y",
                "line": {"color": palette.NEUTRAL, "width": 1.6},
            }
        )  # fmt: skip
    return brackets
