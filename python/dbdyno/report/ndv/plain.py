"""The figures of a source without a planner: values, rows of a value, and how values come as rows come."""

from __future__ import annotations

from rich.text import Text

from dbdyno.analysis.ndv.findings import ColumnFindings, GroupFindings, NdvFindings
from dbdyno.report import numbers
from dbdyno.report.layout import Column, Row, paragraph, table
from dbdyno.report.ndv.words import counts_of, figure, within

GROWTH = {
    "unique": "one for each row",
    "grows": "with the rows",
    "slows": "slower than rows",
    "saturates": "hardly any more",
}
SAID = (
    "How values grow is told from the order of the rows: where these lie in the order of a column, its values seem "
    "to grow with them."
)


def plain_figures(found: NdvFindings) -> list[Text]:
    """A row for each column, then for each group."""
    counted = counts_of(found)
    shown = [one for _, one in counted]
    nulls = [_nulls(one) for one in shown]
    grown = tuple(_grown(one) for one in shown)
    types = tuple(one.type if isinstance(one, ColumnFindings) else "" for one in shown)
    columns = [
        Column(("type",), types, "dim", words=True),
        *([Column(("NULL",), _shares(nulls, found.rows), "dim")] if any(nulls) else []),
        Column(("different", "values"), tuple(figure(one.ndv, exact=one.exact) for one in shown), "bold"),
        Column(("95 %",), tuple(within(one.ndv, exact=one.exact) for one in shown), "dim"),
        Column(("rows", "of one"), tuple(_rows_of_one(one, found.rows) for one in shown)),
        *([Column(("more values come",), grown, words=True)] if any(grown) else []),
    ]
    lines = table([Row(name) for name, _ in counted], columns)
    if {GROWTH["grows"], GROWTH["slows"]} & set(grown):
        lines += paragraph(Text(SAID, style="dim"), rest="")
    return lines


def _nulls(one: ColumnFindings | GroupFindings) -> int:
    return one.nulls if isinstance(one, ColumnFindings) else 0


def _shares(nulls: list[int], rows: int) -> tuple[str, ...]:
    return tuple(numbers.percent(null / rows) if null else "" for null in nulls)


def _rows_of_one(one: ColumnFindings | GroupFindings, rows: int) -> str:
    """How many rows a value has in the mean."""
    if one.ndv.estimate <= 0:
        return numbers.NOTHING
    return numbers.significant((rows - _nulls(one)) / one.ndv.estimate, most_decimals=1)


def _grown(one: ColumnFindings | GroupFindings) -> str:
    if isinstance(one, GroupFindings) or one.growth is None:
        return ""
    return GROWTH.get(one.growth.evidence, "")
