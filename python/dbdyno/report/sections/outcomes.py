"""Figures of the database before and after the work."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from rich.text import Text

from dbdyno.analysis.findings import Arm, Outcome
from dbdyno.report import numbers
from dbdyno.report.layout import Column, table
from dbdyno.report.naming import ArmNames, outcome_name
from dbdyno.report.sections.arms import arm_rows, title


def before_and_after(arms: Sequence[Arm], names: ArmNames) -> list[Text]:
    """Each figure before, after, and what a trial changed."""
    outcomes = dict.fromkeys(outcome.name for arm in arms for outcome in arm.outcomes)
    columns = [column for name in outcomes for column in _columns(name, arms)]
    return [*title("Before and after the work of a trial"), *table(arm_rows(arms, names), columns)] if columns else []


def _columns(name: str, arms: Sequence[Arm]) -> list[Column]:
    found = [next((outcome for outcome in arm.outcomes if outcome.name == name), None) for arm in arms]
    unit = numbers.ONE
    words, in_bytes = outcome_name(name)
    if in_bytes:
        unit = numbers.byte_unit(median(abs(one.after.estimate) for one in found if one))
        words += f", {unit.name}"

    def column(heading: str, values: Sequence[float | None], style: str = "") -> Column:
        return Column((heading,), tuple(numbers.in_unit(value, unit) for value in values), style, span=words)

    return [
        column("before", [_value(one, "before") for one in found]),
        column("after", [_value(one, "after") for one in found]),
        column("change", [_value(one, "difference") for one in found], "bold"),
    ]


def _value(outcome: Outcome | None, moment: str) -> float | None:
    if outcome is None:
        return None
    return {"before": outcome.before, "after": outcome.after, "difference": outcome.difference}[moment].estimate
