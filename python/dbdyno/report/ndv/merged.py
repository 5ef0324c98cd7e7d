"""Merged sketches on a terminal: a row for each column."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from dbdyno.analysis.ndv.findings import MergedCounts
from dbdyno.report import numbers
from dbdyno.report.layout import Column, Row, paragraph, table
from dbdyno.report.ndv.words import figure, within
from dbdyno.report.runs_compared.terminal import print_lines


def print_merged(found: MergedCounts, console: Console, kept: str | None) -> None:
    """Print the table; `kept` is the file that was written."""
    columns = found.columns
    heading = f"{numbers.count(found.files, 'file')}, {numbers.count(len(columns), 'column')}"
    lines = [
        *paragraph(Text(heading, style="bold")),
        Text(),
        *table(
            [Row(column.name) for column in columns],
            [
                Column(("type",), tuple(column.type for column in columns), "dim", words=True),
                Column(("rows",), tuple(f"{column.rows:,}" for column in columns)),
                Column(("NULL",), tuple(f"{column.nulls:,}" for column in columns), "dim"),
                Column(("different", "values"), tuple(figure(one.ndv, exact=one.exact) for one in columns), "bold"),
                Column(("95 %",), tuple(within(one.ndv, exact=one.exact) for one in columns), "dim"),
            ],
        ),
        *([Text(), Text(f"Sketches: {kept}")] if kept is not None else []),
    ]
    print_lines(iter(lines), console)
