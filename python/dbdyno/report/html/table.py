"""A table of the page: cells are plain text, escaped when the page is made."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence


@dataclasses.dataclass(frozen=True, slots=True)
class Cell:
    """A figure or word, with something fainter beside it, such as an interval."""

    text: str
    faint: str = ""


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
