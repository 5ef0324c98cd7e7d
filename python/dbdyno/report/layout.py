"""Tables and paragraphs of plain text: one row an arm, decimal points in one column, never wider than the page.

A table that is too wide becomes two, stacked, each with the names of its rows.
A name too long for its column stands on a line of its own above its figures.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator, Sequence

from rich.text import Text

from dbdyno.report.numbers import align_points

WIDTH = 80
GAP = 2
GAP_WITHIN = 1
LONGEST_NAME = 24
INDENT = "  "

# A line may break at a space, but not between a number and its unit, or a product and its version.
BREAK = re.compile(r"(?<!PostgreSQL) (?!(?:%|ns|us|ms|s|B|KiB|MiB|GiB|CPUs|blocks)\b)(?! ?%)")


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """The name of a row and the group that it stands in."""

    name: str
    group: str | None = None

    @property
    def label(self) -> str:
        """The name as printed: indented below the heading of its group."""
        return self.name if self.group is None else INDENT + self.name


@dataclasses.dataclass(frozen=True, slots=True)
class Column:
    """A heading of one or two lines and a cell for each row; numbers align at the point, words at the left.

    Neighbours with the same `span` stand close together below one heading and are never parted.
    """

    heading: tuple[str, ...]
    cells: tuple[str, ...]
    style: str = ""
    words: bool = False
    styles: tuple[str, ...] = ()
    span: str = ""

    @property
    def width(self) -> int:
        """The width of the column without the gap before it."""
        return max(map(len, (*self.heading, *self.padded())), default=0)

    def padded(self) -> list[str]:
        """The cells at one width, points aligned."""
        return list(self.cells) if self.words else align_points(self.cells)

    def set(self, text: str) -> str:
        """A text of this column at the column's width."""
        return text.ljust(self.width) if self.words else text.rjust(self.width)


def table(rows: Sequence[Row], columns: Sequence[Column]) -> list[Text]:
    """The lines of one table, or of several stacked ones."""
    name_width = max((len(row.label) for row in rows if len(row.label) <= LONGEST_NAME), default=len(INDENT))
    lines: list[Text] = []
    for gap, part in _parts(columns, WIDTH - name_width):
        lines += [Text()] if lines else []
        lines += _headings(part, name_width, gap)
        lines += _body(rows, part, name_width, gap)
    return lines


def paragraph(text: Text, *, first: str = "", rest: str = INDENT) -> list[Text]:
    """`text` broken at words to the width of the page; `first` and `rest` lead its lines."""
    lines: list[Text] = []
    start, end = 0, 0  # the line under way is text[start:end]
    for stop in [*(match.start() for match in BREAK.finditer(text.plain)), len(text)]:
        lead = rest if lines else first
        if end > start and len(lead) + stop - start > WIDTH:
            lines.append(Text.assemble(lead, text[start:end]))
            start = end + 1  # the space at which the line breaks is not printed
        end = stop
    return [*lines, Text.assemble(rest if lines else first, text[start:end])]


def _spans(columns: Sequence[Column]) -> list[list[Column]]:
    """Columns that belong together; one without a span stands alone."""
    keyed = [(column.span or str(place), column) for place, column in enumerate(columns)]
    return [[column for _, column in together] for _, together in itertools.groupby(keyed, key=lambda pair: pair[0])]


def _width(span: Sequence[Column]) -> int:
    """That of its columns, or of the heading above them where that is wider."""
    return max(_width_of_columns(span), len(_words_over(span)))


def _width_of_columns(span: Sequence[Column]) -> int:
    return sum(column.width for column in span) + GAP_WITHIN * (len(span) - 1)


def _words_over(span: Sequence[Column]) -> str:
    return f" {span[0].span} " if span[0].span else ""


def _parts(columns: Sequence[Column], width: int) -> Iterator[tuple[int, list[Column]]]:
    """The gap and the columns of each table: all in one if a narrower gap is enough for that."""
    widths = [_width(span) for span in _spans(columns)]
    for gap in (GAP, GAP_WITHIN):
        if sum(widths) + gap * len(widths) <= width:
            yield gap, list(columns)
            return
    part: list[Column] = []
    used = 0
    for span in _spans(columns):
        if part and used + GAP + _width(span) > width:
            yield GAP, part
            part, used = [], 0
        part += span
        used += GAP + _width(span)
    yield GAP, part


def _gaps(columns: Sequence[Column], gap: int) -> list[str]:
    """The space before each column; a span that is narrower than its heading stands at the right of it."""
    gaps: list[str] = []
    for span in _spans(columns):
        before = gap + _width(span) - _width_of_columns(span)
        gaps += [" " * before, *[" " * GAP_WITHIN] * (len(span) - 1)]
    return gaps


def _headings(columns: Sequence[Column], name_width: int, gap: int) -> Iterator[Text]:
    if any(column.span for column in columns):
        spans = (_over(span) for span in _spans(columns))
        yield Text((" " * name_width + "".join(" " * gap + span for span in spans)).rstrip(), style="dim")
    height = max(len(column.heading) for column in columns)
    for level in range(height):
        line = " " * name_width
        for space, column in zip(_gaps(columns, gap), columns, strict=True):
            above = height - len(column.heading)
            line += space + column.set(column.heading[level - above] if level >= above else "")
        yield Text(line.rstrip(), style="dim")


def _over(span: Sequence[Column]) -> str:
    """The common heading between dashes; blank above a column that stands alone."""
    words = _words_over(span)
    return words.center(_width(span), "-" if words else " ")


def _body(rows: Sequence[Row], columns: Sequence[Column], name_width: int, gap: int) -> Iterator[Text]:
    cells = [column.padded() for column in columns]
    group: str | None = None
    for place, row in enumerate(rows):
        if row.group is not None and row.group != group:
            yield Text(row.group, style="bold")
        group = row.group
        label = row.label
        if len(label) > name_width:
            yield Text(label)
            label = ""
        line = Text(label.ljust(name_width))
        for space, column, padded in zip(_gaps(columns, gap), columns, cells, strict=True):
            line.append(space)
            line.append(column.set(padded[place]), style=column.styles[place] if column.styles else column.style)
        line.rstrip()
        yield line
