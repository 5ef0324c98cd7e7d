"""Charts made of rows, one for each arm: the label stands above its row, not beside it.

So the figure keeps its whole width on a telephone and no name is ever cut off.
The y axis counts pixels from the top, which makes the place of each label exact.

    | wait-batch              3.03 ms |   label: one line, or two where name and value are too long for one
    | ████████████▒▒▒▒▒               |   band: what the chart draws
"""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Sequence

from dbdyno.report.html.chart import Json, literal, note

LINE_PX = 18
GAP_PX = 8
# Characters of 12.5 px that fit beside each other at 375 px of page width.
CHARACTERS_PER_LINE = 40


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """Where one row is drawn, in pixels from the top of the plot area."""

    top_px: int
    band_top_px: int
    band_bottom_px: int

    @property
    def middle_px(self) -> float:
        """The middle of the band."""
        return (self.band_top_px + self.band_bottom_px) / 2


@dataclasses.dataclass(frozen=True, slots=True)
class Rows:
    """All rows of a figure, the labels as notes, and the height they need."""

    rows: list[Row]
    notes: list[Json]
    height_px: int

    def axis(self) -> Json:
        """The y axis on which the rows stand."""
        return {"range": [self.height_px, 0], "visible": False}


def lay_out(labels: Sequence[tuple[str, str]], band_px: int) -> Rows:
    """Rows for labels (name, value), each with a band of `band_px` beneath."""
    beside = all(len(name) + len(value) + 2 <= CHARACTERS_PER_LINE for name, value in labels)
    rows, notes, top = [], [], 0
    for name, value in labels:
        lines = textwrap.wrap(name, CHARACTERS_PER_LINE) or [""]
        below = [] if beside or not value else [value]
        for place, line in enumerate(lines):
            notes.append(_label(f"<b>{literal(line)}</b>", top + LINE_PX * place, "left"))
        for line in below:
            notes.append(_label(literal(line), top + LINE_PX * len(lines), "left"))
        if beside:
            notes.append(_label(literal(value), top, "right"))
        band_top = top + LINE_PX * (len(lines) + len(below))
        rows.append(Row(top, band_top, band_top + band_px))
        top = band_top + band_px + GAP_PX
    return Rows(rows, notes, top)


def _label(text: str, top_px: int, side: str) -> Json:
    return note(
        text, x=0 if side == "left" else 1, xref="paper", xanchor=side, xshift=0, y=top_px + LINE_PX / 2, yref="y"
    )
