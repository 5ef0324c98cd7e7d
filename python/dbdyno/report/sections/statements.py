"""Which statement the time belongs to, and what it waits for."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from rich.text import Text

from dbdyno.analysis.findings import Arm, Part, StatementTimes
from dbdyno.report import numbers
from dbdyno.report.layout import INDENT, LONGEST_NAME, Column, Row, table
from dbdyno.report.naming import script_name
from dbdyno.report.sections.arms import title

# A terminal shows the statements that take most; all are in the findings.
TOP_STATEMENTS = 10
# A wait that is less of a statement's time than this is not its story.
SMALLEST_SHARE = 0.02


def statements(arms: Sequence[Arm]) -> list[Text]:
    """A table for each arm that others are compared with, where it has several statements."""
    lines: list[Text] = []
    for arm in arms:
        if arm.baseline is None and len(arm.by_statement) > 1:
            lines += [*([Text()] if lines else []), *_statements(arm)]
    return lines


def _statements(arm: Arm) -> list[Text]:
    longest = sorted(arm.by_statement, key=lambda one: -one.ns_per_unit)[:TOP_STATEMENTS]
    shown = [one for one in arm.by_statement if one in longest]
    unit = numbers.time_unit(median(one.ns_per_unit for one in longest[:3]))

    def times(*heading: str, part: str) -> Column:
        found = [_part(one, part) for one in shown]
        return Column(heading, tuple(numbers.in_unit(one.ns.estimate if one else None, unit) for one in found))

    columns = [
        Column(("runs", "a unit"), tuple(numbers.significant(one.executions_per_unit) for one in shown)),
        Column(("time",), tuple(numbers.in_unit(one.ns_per_unit, unit) for one in shown), "bold"),
        times("CPU", part="cpu"),
        times("run", "queue", part="run_queue"),
        Column(("longest wait, with its 95 % interval",), tuple(_wait(one, unit) for one in shown), words=True),
    ]
    words = f"By statement, {arm.arm}: {unit.name} per unit of work"
    if len(shown) < len(arm.by_statement):
        words += f" (the {len(shown)} longest of {len(arm.by_statement)})"
    return [*title(words), *table([_row(one) for one in shown], columns)]


def _row(statement: StatementTimes) -> Row:
    name = f"{statement.line}: {' '.join(statement.text.split())}"
    return Row(name[: LONGEST_NAME - len(INDENT)].rstrip(), script_name(statement.script))


def _part(statement: StatementTimes, part: str) -> Part | None:
    return next((one for one in statement.parts if one.part == part), None)


def _wait(statement: StatementTimes, unit: numbers.Unit) -> str:
    """The greatest wait and those that are not told apart from it; parts come the greatest first."""
    if not statement.parts:
        return f"too few snapshots ({statement.snapshots})"
    waits = [one for one in statement.parts if ":" in one.part and one.share.estimate >= SMALLEST_SHARE]
    if not waits:
        return numbers.NOTHING
    first, *others = waits
    text = f"{first.part} {numbers.in_unit(first.ns.estimate, unit)}"
    if first.ns.low is not None and first.ns.high is not None:
        text += f" [{numbers.in_unit(first.ns.low, unit)}, {numbers.in_unit(first.ns.high, unit)}]"
    equal = [one for one in others if one.rank_group == first.rank_group]
    return f"{text} or {equal[0].part}" if equal and first.ns.low is not None else text
