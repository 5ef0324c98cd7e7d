"""How far answers are from the truth, and what they cost beside their time."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from rich.text import Text

from dbdyno.analysis.findings import Arm
from dbdyno.report import numbers
from dbdyno.report.layout import Column, paragraph, table
from dbdyno.report.naming import ArmNames
from dbdyno.report.sections.arms import arm_rows, title

MEANING = (
    "Error: root mean square, and worst, over the trials, each with its own seed where an arm takes one, of the column "
    "that is farthest off. CPU: of all processes and threads. Memory: the most that they held for themselves at once."
)


def answers(arms: Sequence[Arm], names: ArmNames) -> list[Text]:
    """A row for each arm; nothing where the experiment knows no truth."""
    if not any(arm.answers for arm in arms):
        return []
    elapsed = [arm.elapsed_ns.estimate if arm.elapsed_ns else arm.profile_total_ns for arm in arms]
    cpu = [arm.cost.cpu_ns.estimate if arm.cost and arm.cost.cpu_ns else None for arm in arms]
    memory = [arm.cost.memory_bytes.estimate if arm.cost and arm.cost.memory_bytes else None for arm in arms]
    unit = numbers.time_unit(median(elapsed))
    columns = [
        _errors("error,", [max((one.error_rms for one in arm.answers), default=None) for arm in arms]),
        _errors("worst,", [max((one.worst for one in arm.answers), default=None) for arm in arms]),
        Column(("elapsed,", unit.name), tuple(numbers.in_unit(ns, unit) for ns in elapsed), "bold"),
        Column(("CPU,", unit.name), tuple(numbers.in_unit(ns, unit) for ns in cpu)),
        _sizes("memory,", memory),
        _sizes("temp,", [arm.cost.temp_bytes if arm.cost else None for arm in arms]),
    ]
    return [
        *title("Answers: how far from the truth, and what they cost"),
        *table(arm_rows(arms, names), columns),
        *paragraph(Text(MEANING, style="dim")),
    ]


def _errors(heading: str, shares: Sequence[float | None]) -> Column:
    return Column((heading, "%"), tuple(numbers.in_unit(share, numbers.PER_CENT) for share in shares))


def _sizes(heading: str, sizes: Sequence[float | None]) -> Column:
    unit = numbers.byte_unit(max((size for size in sizes if size), default=0.0))
    return Column((heading, unit.name), tuple(numbers.in_unit(size, unit) for size in sizes))
