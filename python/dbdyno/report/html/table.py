"""A table of the page: cells are plain text, escaped when the page is made."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

from dbdyno.report.html.palette import Fill


@dataclasses.dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a small bar: its fill, and where it begins and how wide it is, in per cent of the cell."""

    fill: Fill
    from_percent: float
    percent: float


@dataclasses.dataclass(frozen=True, slots=True)
class Cell:
    """A figure or word, with something fainter beside it, such as an interval, and a small bar beneath.

    The bar repeats what figures of the row say, so that a screen reader loses nothing without it.
    """

    text: str
    faint: str = ""
    bar: Sequence[Piece] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Column:
    """A heading, the unit of the whole column, and whether it holds figures (set flush right)."""

    heading: str
    unit: str = ""
    figures: bool = True


@dataclasses.dataclass(frozen=True, slots=True)
class Section:
    """Rows under a common heading; the first cell of a row names it."""

    heading: str | None
    rows: Sequence[Sequence[Cell]]


@dataclasses.dataclass(frozen=True, slots=True)
class Table:
    """Columns and sections; `id` is for links and tests."""

    id: str
    columns: Sequence[Column]
    sections: Sequence[Section]

    def aligned(self) -> Table:
        """The same table with decimal points beneath each other in every column of figures."""
        decimals = [self._most_decimals(place) for place in range(len(self.columns))]
        sections = [
            Section(
                section.heading,
                [[_padded(cell, most) for cell, most in zip(row, decimals, strict=True)] for row in section.rows],
            )
            for section in self.sections
        ]
        return Table(self.id, self.columns, sections)

    def _most_decimals(self, place: int) -> int:
        if not self.columns[place].figures:
            return 0
        cells = (row[place] for section in self.sections for row in section.rows)
        return max((_decimals(cell.text) for cell in cells if _FIGURE.fullmatch(cell.text)), default=0)


_FIGURE = re.compile(r"−?[0-9,]+(\.[0-9]+)?x?")
# As wide as a digit and as a point in a font with tabular figures; HTML does not collapse them.
_FIGURE_SPACE, _POINT_SPACE = "\u2007", "\u2008"


def _decimals(text: str) -> int:
    return len(text.removesuffix("x").partition(".")[2])


def _padded(cell: Cell, most: int) -> Cell:
    if not _FIGURE.fullmatch(cell.text):
        return cell
    point = _POINT_SPACE if most and "." not in cell.text else ""
    return dataclasses.replace(cell, text=cell.text + point + _FIGURE_SPACE * (most - _decimals(cell.text)))
