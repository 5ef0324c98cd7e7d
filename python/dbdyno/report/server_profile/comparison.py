"""Two profiles on a terminal: what changed in words, then part by part, query by query, and what limits it."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime

from rich.console import Console
from rich.text import Text

from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.server_profile.findings.compared import Moved, ProfileComparison, Side
from dbdyno.report import numbers
from dbdyno.report.layout import WIDTH, Column, Row, paragraph, table
from dbdyno.report.sections.arms import title
from dbdyno.report.sections.limits import limits
from dbdyno.report.server_profile.names import clipped, part_name

MOST_PARTS = 12
MOST_QUERIES = 8
# A move of less than this many sessions, or share of a commit's time, makes no row clearer.
LEAST_SESSIONS = 0.005
LEAST_OF_COMMIT = 0.002


def render(comparison: ProfileComparison) -> str:
    """The whole report as plain text."""
    out = io.StringIO()
    print_comparison(comparison, Console(file=out, width=WIDTH, color_system=None))
    return out.getvalue()


def print_comparison(comparison: ProfileComparison, console: Console) -> None:
    """Print the report; colour only if the console is a terminal."""
    for line in _lines(comparison):
        line.rstrip()
        console.print(line, highlight=False, soft_wrap=True)


def _lines(comparison: ProfileComparison) -> Iterator[Text]:
    yield from paragraph(Text("Where the time moved from A to B", style="bold"))
    yield Text()
    for sentence in comparison.sentences:
        yield from paragraph(Text(sentence))
    yield Text()
    for name, side in (("A", comparison.first), ("B", comparison.second)):
        yield from paragraph(Text(f"{name}: {_side(side)}", style="dim"), rest="   ")
    for section in (
        _moved(
            "In average active sessions (a star: moved beyond doubt)",
            [comparison.active_sessions, *_worth(comparison.parts, LEAST_SESSIONS)],
            numbers.ONE,
            part_name,
        ),
        _per_commit(comparison),
        _moved("By query, in average active sessions", _queries(comparison.by_query), numbers.ONE, str),
        limits(comparison.warnings, ""),
    ):
        if section:
            yield Text()
            yield from section


def _side(side: Side) -> str:
    commits = "" if side.commits_per_s is None else f", {numbers.significant(side.commits_per_s)} commits per s"
    return f"{side.target}, {numbers.significant(side.seconds)} s from {_moment(side)}, route {side.route}{commits}"


def _per_commit(comparison: ProfileComparison) -> list[Text]:
    if comparison.per_commit is None:
        return []
    whole = max(comparison.per_commit.first.estimate, comparison.per_commit.second.estimate)
    unit = numbers.time_unit(whole)
    shown = [comparison.per_commit, *_worth(comparison.parts_per_commit, LEAST_OF_COMMIT * whole)]
    return _moved(f"Per commit, in {unit.name}", shown, unit, part_name)


def _moved(words: str, shown: Sequence[Moved], unit: numbers.Unit, name: Callable[[str], str]) -> list[Text]:
    """A row each: before, after, the difference and its interval."""
    if not shown:
        return []
    columns = [
        Column(("A",), tuple(numbers.in_unit(one.first.estimate, unit) for one in shown)),
        Column(("B",), tuple(numbers.in_unit(one.second.estimate, unit) for one in shown)),
        Column(("B - A",), tuple(_signed(one.difference.estimate, unit) for one in shown), style="bold"),
        Column(("95 % interval",), tuple(_interval(one.difference, unit) for one in shown), style="dim", words=True),
        Column(("",), tuple("*" if one.changed else "" for one in shown), words=True),
    ]
    return [*title(words), *table([Row(_row(one, name)) for one in shown], columns)]


def _row(moved: Moved, name: Callable[[str], str]) -> str:
    called = "(no query id)" if moved.name is None else name(moved.name)
    return clipped(f"{called} {moved.text}", WIDTH) if moved.text else called


def _worth(moved: Sequence[Moved], least: float) -> list[Moved]:
    return [one for one in moved if max(abs(one.first.estimate), abs(one.second.estimate)) >= least][:MOST_PARTS]


def _queries(moved: Sequence[Moved]) -> list[Moved]:
    return [] if all(one.name is None for one in moved) else _worth(moved, LEAST_SESSIONS)[:MOST_QUERIES]


def _signed(value: float, unit: numbers.Unit) -> str:
    text = numbers.in_unit(value, unit)
    return f"+{text}" if value > 0 and text != "0" else text


def _interval(difference: Estimate, unit: numbers.Unit) -> str:
    if difference.low is None or difference.high is None:
        return numbers.NOTHING
    return f"[{_signed(difference.low, unit)}, {_signed(difference.high, unit)}]"


def _moment(side: Side) -> str:
    if not side.started_at:
        return "an unknown moment"
    return f"{datetime.fromisoformat(side.started_at).astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
