"""WAL inserted but not flushed: what a crash would take."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from rich.text import Text

from dbdyno.analysis.findings import Arm, Spread
from dbdyno.report import numbers
from dbdyno.report.layout import Column, Row, paragraph, table
from dbdyno.report.naming import ArmNames
from dbdyno.report.sections.arms import title


def exposure(arms: Sequence[Arm], names: ArmNames) -> list[Text]:
    """WAL inserted but not flushed: what a crash would take."""
    exposed = [(arm, arm.exposure) for arm in arms if arm.exposure is not None]
    if not exposed:
        return []
    sizes = numbers.byte_unit(median(exposure.bytes.max for _, exposure in exposed))
    ages = numbers.time_unit(median(exposure.age_ns.max for _, exposure in exposed))
    rows = [
        Row(names.short(arm.arm) + (" *" if exposure.acknowledged else ""), names.group(arm.arm))
        for arm, exposure in exposed
    ]
    columns = [
        *_spread(f"WAL, {sizes.name}", [exposure.bytes for _, exposure in exposed], sizes),
        *_spread("commits", [exposure.commits for _, exposure in exposed], numbers.ONE, most_decimals=0),
        *_spread(f"age, {ages.name}", [exposure.age_ns for _, exposure in exposed], ages),
    ]
    note = "* A crash loses them although they were acknowledged; in the other arms their clients still wait."
    return [
        *title("Commits not yet on disk at any moment"),
        *table(rows, columns),
        *(paragraph(Text(note, style="dim")) if any(exposure.acknowledged for _, exposure in exposed) else []),
    ]


def _spread(span: str, spreads: Sequence[Spread | None], unit: numbers.Unit, most_decimals: int = 1) -> list[Column]:
    def column(heading: str, values: Sequence[float | None], style: str = "") -> Column:
        return Column(
            (heading,), tuple(numbers.in_unit(value, unit, most_decimals) for value in values), style, span=span
        )

    if not any(spreads):
        return []
    return [
        column("mean", [None if spread is None else spread.mean for spread in spreads]),
        column("p95", [None if spread is None else spread.p95 for spread in spreads], "bold"),
        column("max", [None if spread is None else spread.max for spread in spreads]),
    ]
