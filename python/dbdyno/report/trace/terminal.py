"""Profiles of trace files on a terminal: the answer, where the time went, which statements took it."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from dbdyno.analysis.trace.findings import Scope, TraceFile, TraceFindings
from dbdyno.report import numbers
from dbdyno.report.layout import WIDTH, Column, Row, paragraph, table
from dbdyno.report.runs_compared.terminal import print_lines
from dbdyno.report.sections.arms import title
from dbdyno.report.sections.limits import limits
from dbdyno.report.trace.words import answer, heading, statement_name, statement_words

STATEMENTS_SHOWN = 10
LINES_SHOWN = 20


def render(found: TraceFindings) -> str:
    """The whole report as plain text."""
    out = io.StringIO()
    print_findings(found, Console(file=out, width=WIDTH, color_system=None))
    return out.getvalue()


def print_findings(found: TraceFindings, console: Console) -> None:
    """Print the report; colour only if the console is a terminal."""
    print_lines(_lines(found), console)


def _lines(found: TraceFindings) -> Iterator[Text]:
    for place, file in enumerate(found.files):
        if place:
            yield Text()
        yield from _file([scope for scope in found.scopes if scope.file == file.file], file)


def _file(scopes: Sequence[Scope], file: TraceFile) -> Iterator[Text]:
    yield from paragraph(Text(heading(file), style="bold"))
    for scope in scopes:
        yield Text()
        yield from _scope(scope)
    if file.warnings:
        yield Text()
        yield from limits(file.warnings, "")


def _scope(scope: Scope) -> Iterator[Text]:
    yield from paragraph(Text(answer(scope)), rest="")
    for finding in scope.findings:
        yield from paragraph(Text(f"{finding.words} (line {finding.line:,})."), first="- ")
    for section in (_profile(scope), _statements(scope)):
        if section:
            yield Text()
            yield from section


def _profile(scope: Scope) -> list[Text]:
    """All lines, or the largest and how many more there are; the last one stays."""
    if scope.duration_ns <= 0 and len(scope.profile) == 1:
        return []
    *lines, rest = scope.profile
    shown, hidden = lines[:LINES_SHOWN], lines[LINES_SHOWN:]
    unit = numbers.time_unit(max((line.ns for line in scope.profile), default=0))
    every = [*shown, rest]
    of_wait = numbers.time_unit(max((line.mean_ns or 0 for line in every), default=0))
    columns = [
        Column(("time,", unit.name), tuple(numbers.in_unit(line.ns, unit) for line in every), "bold"),
        Column(("share,", "%"), tuple(_share(line.share) for line in every)),
        Column(("count",), tuple("" if line.count is None else f"{line.count:,}" for line in every)),
        Column(("mean,", of_wait.name), tuple(_time(line.mean_ns, of_wait) for line in every), "dim"),
        Column(("longest,", of_wait.name), tuple(_time(line.max_ns, of_wait) for line in every), "dim"),
        Column(("at line",), tuple(_number(line.slowest_line) for line in every), "dim"),
    ]
    said = f"The lines add up to {numbers.duration(scope.duration_ns)}. Unaccounted for is {scope.unaccounted_words}."
    more = f"{len(hidden)} more waits took {numbers.duration(sum(line.ns for line in hidden))}. " if hidden else ""
    return [
        *title("Where the time went"),
        *table([Row(line.name) for line in every], columns),
        *paragraph(Text(more + said, style="dim"), rest=""),
    ]


def _statements(scope: Scope) -> list[Text]:
    shown = [one for one in scope.statements if one.response_ns][:STATEMENTS_SHOWN]
    if not shown:
        return []
    unit = numbers.time_unit(max(one.response_ns for one in shown))
    columns = [
        Column(("time,", unit.name), tuple(numbers.in_unit(one.response_ns, unit) for one in shown), "bold"),
        Column(("share,", "%"), tuple(_share(one.share) for one in shown)),
        Column(("runs",), tuple(f"{one.executions:,}" for one in shown)),
        Column(("rows",), tuple(f"{one.rows:,}" for one in shown)),
        Column(("depth",), tuple(_number(one.depth) for one in shown), "dim"),
    ]
    texts = [line for one in shown for line in paragraph(Text(statement_words(one)), first="- ")]
    return [
        *title("Which statements took it, without what ran within them"),
        *table([Row(statement_name(one)) for one in shown], columns),
        Text(),
        *texts,
    ]


def _share(share: float | None) -> str:
    return numbers.in_unit(share, numbers.PER_CENT, most_decimals=1)


def _time(ns: float | None, unit: numbers.Unit) -> str:
    return "" if ns is None else numbers.in_unit(ns, unit)


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"
