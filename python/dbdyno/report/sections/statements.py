"""Whose the time is: what each kind of transaction and each statement takes, and what it waits for."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from rich.text import Text

from dbdyno.analysis.findings import Arm, Part, StatementTimes, event_note
from dbdyno.report import numbers
from dbdyno.report.layout import INDENT, Column, Row, table
from dbdyno.report.naming import script_name
from dbdyno.report.sections.arms import title

# A terminal shows the statements that take most; all are in the findings.
TOP_STATEMENTS = 10
# So much of a statement's text leaves room for a wait with its interval.
LONGEST_TEXT = 22
# A wait that is less of a statement's time than this is not its story.
SMALLEST_SHARE = 0.02


@dataclasses.dataclass(frozen=True, slots=True)
class Line:
    """One row: how often a unit of work has it, its time, and the parts of it (none with too few snapshots)."""

    row: Row
    per_unit: float
    ns: float
    parts: list[Part]


def kinds_parts(arms: Sequence[Arm]) -> list[Text]:
    """The kinds of a mix, for each arm that others are compared with."""
    lines: list[Text] = []
    for arm in _baselines(arms):
        kinds = [kind for kind in arm.by_script if kind.parts]
        if len(kinds) > 1:
            whole = sum(kind.successful for kind in kinds)
            found = [
                Line(
                    Row(script_name(kind.script)),
                    kind.successful / whole,
                    sum(part.ns.estimate for part in kind.parts),
                    kind.parts,
                )
                for kind in kinds
            ]
            lines += _section(f"By kind of transaction, {arm.arm}", "of the kind", found, after=lines)
    return lines


def statements(arms: Sequence[Arm]) -> list[Text]:
    """The statements of an arm, where it has several; for each arm that others are compared with."""
    lines: list[Text] = []
    for arm in _baselines(arms):
        longest = sorted(arm.by_statement, key=lambda one: -one.ns_per_unit)[:TOP_STATEMENTS]
        if len(longest) > 1:
            shown = [one for one in arm.by_statement if one in longest]
            rest = (
                f" (the {len(shown)} longest of {len(arm.by_statement)})"
                if len(longest) < len(arm.by_statement)
                else ""
            )
            found = [Line(_row(one), one.executions_per_unit, one.ns_per_unit, one.parts) for one in shown]
            lines += _section(f"By statement{rest}, {arm.arm}", "of work", found, after=lines)
    return lines


def _baselines(arms: Sequence[Arm]) -> list[Arm]:
    return [arm for arm in arms if arm.baseline is None]


def _row(statement: StatementTimes) -> Row:
    name = f"{statement.line}: {' '.join(statement.text.split())}"
    return Row(name[: LONGEST_TEXT - len(INDENT)].rstrip(), script_name(statement.script))


def _section(words: str, of: str, lines: Sequence[Line], *, after: Sequence[Text]) -> list[Text]:
    unit = numbers.time_unit(max(line.ns for line in lines))

    columns = [
        Column(("times",), tuple(numbers.significant(line.per_unit) for line in lines)),
        Column(("time",), tuple(numbers.in_unit(line.ns, unit) for line in lines), "bold"),
        Column(("CPU", "+queue"), tuple(numbers.in_unit(_runnable_ns(line), unit) for line in lines)),
        Column(("longest wait",), tuple(_longest_wait(line, unit) for line in lines), words=True),
    ]
    space = [Text()] if after else []
    return [*space, *title(f"{words}: {unit.name} per unit {of}"), *table([line.row for line in lines], columns)]


def _runnable_ns(line: Line) -> float | None:
    """CPU and run queue together: a terminal has no room for more."""
    known = [part.ns.estimate for part in line.parts if part.part in ("cpu", "run_queue")]
    return sum(known) if known else None


def _longest_wait(line: Line, unit: numbers.Unit) -> str:
    """The greatest wait, and another that is not told apart from it; parts come the greatest first."""
    if not line.parts:
        return "too few snapshots to say"
    waits = [one for one in line.parts if ":" in one.part and one.share.estimate >= SMALLEST_SHARE]
    if not waits:
        return numbers.NOTHING
    first, *others = waits
    text = f"{first.part}{'*' if event_note(first.part) else ''} {numbers.in_unit(first.ns.estimate, unit)}"
    if first.ns.low is None or first.ns.high is None:
        return text
    equal = [one.part for one in others if one.rank_group == first.rank_group]
    bounds = f" [{numbers.in_unit(first.ns.low, unit)}, {numbers.in_unit(first.ns.high, unit)}]"
    return f"{text} or {equal[0]}" if equal else text + bounds
