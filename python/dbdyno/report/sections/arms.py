"""What all sections share: a title, and a row for each arm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

from rich.text import Text

from dbdyno.analysis.findings import Arm
from dbdyno.report.layout import Row, paragraph
from dbdyno.report.naming import ArmNames

# Beyond that one unit and three decimals have no room for both.
WIDEST = 1_000


def title(text: str) -> list[Text]:
    """The heading of a section."""
    return paragraph(Text(text, style="bold"))


def arm_rows(arms: Sequence[Arm], names: ArmNames) -> list[Row]:
    """Each arm by its short name, under the heading of its group."""
    return [Row(names.short(arm.arm), names.group(arm.arm)) for arm in arms]


Table = Callable[[Sequence[Arm], ArmNames], list[Text]]


def tables(arms: Sequence[Arm], names: ArmNames, table: Table) -> list[Text]:
    """A table of times; several, with a blank line between them, where units of work differ too much for one."""
    lines: list[Text] = []
    for some in _alike(arms, names):
        more = table(some, names)
        lines += [Text(), *more] if lines and more else more
    return lines


def _alike(arms: Sequence[Arm], names: ArmNames) -> list[list[Arm]]:
    found: list[list[Arm]] = []
    for name in dict.fromkeys(names.group(arm.arm) for arm in arms):
        group = [arm for arm in arms if names.group(arm.arm) == name]
        fitting = [some for some in found if 1 / WIDEST < _typical_ns(group) / _typical_ns(some) < WIDEST]
        if fitting:
            fitting[0].extend(group)
        else:
            found.append(group)
    return found


def _typical_ns(arms: Sequence[Arm]) -> float:
    return median(arm.profile_total_ns for arm in arms)
