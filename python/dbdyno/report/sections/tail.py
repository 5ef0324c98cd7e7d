"""Why the slowest units of work are slow: a sentence for each arm."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from dbdyno.analysis.findings import Arm
from dbdyno.report.layout import paragraph
from dbdyno.report.naming import ArmNames
from dbdyno.report.sections.arms import title


def tail(arms: Sequence[Arm], names: ArmNames) -> list[Text]:
    """What slow units have that median ones have not; where nothing is known, why.

    Nothing where trials have so few units that nobody would ask.
    """
    if not any(arm.tail or arm.has_percentiles for arm in arms):
        return []
    lines: list[Text] = []
    group: str | None = None
    for arm in arms:
        if arm.tail is None:
            continue
        if names.group(arm.arm) not in (None, group):
            group = names.group(arm.arm)
            lines.append(Text(str(group), style="bold"))
        said = arm.tail.sentence[0].lower() + arm.tail.sentence[1:]
        lines += paragraph(Text.assemble((f"{names.short(arm.arm)}: ", "bold"), said), first="- ")
    for note in dict.fromkeys(arm.tail_note for arm in arms if arm.tail_note):
        without = [arm for arm in arms if arm.tail_note == note]
        whose = "" if len(without) == len(arms) else f"{', '.join(names.short(arm.arm) for arm in without)}: "
        lines += paragraph(Text(f"Not known: {whose}{note}.", style="dim"))
    return [*title(_words(arms)), *lines] if lines else []


def _words(arms: Sequence[Arm]) -> str:
    """What was asked for, where it is not the tail."""
    bands = [arm.tail.slow for arm in arms if arm.tail]
    if not bands or bands[0].to_share == 1.0:
        return "Why the slowest units of work are slow"
    return f"Units of work from {bands[0].from_share * 100:g} to {bands[0].to_share * 100:g} % of the response times"
