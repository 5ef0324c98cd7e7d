"""What all sections share: a title, and a row for each arm."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from dbdyno.analysis.findings import Arm
from dbdyno.report.layout import Row, paragraph
from dbdyno.report.naming import ArmNames


def title(text: str) -> list[Text]:
    """The heading of a section."""
    return paragraph(Text(text, style="bold"))


def arm_rows(arms: Sequence[Arm], names: ArmNames) -> list[Row]:
    """Each arm by its short name, under the heading of its group."""
    return [Row(names.short(arm.arm), names.group(arm.arm)) for arm in arms]
