"""Runs along the time on a terminal: each arm's figures in the order of the runs, then what changed between them."""

from __future__ import annotations

import io
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from dbdyno.analysis.runs_compared.findings import RunsHistory
from dbdyno.report import numbers
from dbdyno.report.layout import WIDTH, Column, Row, paragraph, table
from dbdyno.report.runs_compared.figures import figures_of, moment
from dbdyno.report.runs_compared.terminal import print_lines
from dbdyno.report.runs_compared.words import ALWAYS, grouped, summary_words
from dbdyno.report.sections.arms import title
from dbdyno.report.sections.limits import limits


def render(history: RunsHistory, *, page: str | None = None) -> str:
    """The whole report as plain text."""
    out = io.StringIO()
    print_history(history, Console(file=out, width=WIDTH, color_system=None), page=page)
    return out.getvalue()


def print_history(history: RunsHistory, console: Console, *, page: str | None) -> None:
    """Print the report; colour only if the console is a terminal."""
    print_lines(_lines(history, page), console)


def answer(history: RunsHistory) -> str:
    """What is shown, in a sentence."""
    first, last = history.runs[0], history.runs[-1]
    return (
        f"{numbers.count(len(history.runs), 'run')} from {moment(first.started_at)} to {moment(last.started_at)}, "
        f"{numbers.count(len(history.arms), 'arm')}; two of them are tested against each other by "
        "`dbdyno compare RUN_A RUN_B`."
    )


def _lines(history: RunsHistory, page: str | None) -> Iterator[Text]:
    yield from paragraph(Text(f"{history.experiment}: {len(history.runs)} runs along the time", style="bold"))
    yield Text()
    yield from paragraph(Text(answer(history).replace("`", "")), rest="")
    yield Text()
    for run in history.runs:
        yield from paragraph(Text(f"{run.label}: {summary_words(run)}", style="dim"), rest="   ")
    for section in (_table(history), _changes(history), _left_out(history), limits(history.warnings, "")):
        if section:
            yield Text()
            yield from section
    if page is not None:
        yield Text()
        yield Text(f"Page: {page}")


def _table(history: RunsHistory) -> list[Text]:
    """A group for each arm, a row for each run."""
    shown = [(run, arm, value) for arm in history.arms for run, value in zip(history.runs, arm.values, strict=True)]
    values = [value for _, _, value in shown]
    figures = figures_of(history.metric, values)
    columns = [
        Column(("started",), tuple(moment(run.started_at) for run, _, _ in shown), words=True),
        Column((figures.unit_name,), tuple(map(figures.text, values)), "bold"),
        Column(("95 % interval",), tuple(map(figures.ends, values)), "dim", words=True),
        Column(("blocks",), tuple(str(run.blocks_complete) for run, _, _ in shown)),
    ]
    rows = [Row(f"run {run.label}", arm.arm) for run, arm, _ in shown]
    return [*title(f"{figures.heading} of each arm, run after run"), *table(rows, columns)]


def _changes(history: RunsHistory) -> list[Text]:
    """What the records say differently from one run to the next; seeds and blocks stand with the runs."""
    lines: list[Text] = []
    for change in history.changes:
        found = grouped(each for each in change.differences if each.what not in ALWAYS)
        words = "; ".join(f"{group}: {said}" for group, said in found) or "nothing in the records"
        lines += paragraph(Text.assemble((f"{change.before} to {change.after}: ", "bold"), words), first="- ")
    return [*title("What changed from run to run"), *lines]


def _left_out(history: RunsHistory) -> list[Text]:
    lines = [line for each in history.left_out for line in paragraph(Text(f"{each.arm}: {each.reason}"), first="- ")]
    return [*title("Arms that are not shown"), *lines] if lines else []
