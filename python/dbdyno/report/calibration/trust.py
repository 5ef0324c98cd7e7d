"""What limits the figures: checks that do not hold, and warnings."""

from __future__ import annotations

from rich.text import Text

from dbdyno.analysis.calibration.findings import Calibration
from dbdyno.report import numbers
from dbdyno.report.layout import paragraph
from dbdyno.report.sections.arms import title


def checks(calibration: Calibration) -> list[Text]:
    """One line where all hold; otherwise those that do not, each with what was seen."""
    every = calibration.checks
    if not every:
        return []
    failed = [check for check in every if not check.holds]
    if not failed:
        held = "the one check holds" if len(every) == 1 else f"all {len(every)} checks hold"
        return paragraph(Text.assemble(("Checks: ", "bold"), f"{held} ({', '.join(check.name for check in every)})."))
    lines = title(f"Checks: {len(failed)} of {numbers.count(len(every), 'check')} did not hold")
    for check in failed:
        lines += paragraph(Text.assemble((f"{check.name}: ", "bold yellow"), f"{check.seen}."), first="- ")
    return lines


def warnings(calibration: Calibration) -> list[Text]:
    """One entry each, by its code."""
    lines = title("Warnings") if calibration.warnings else []
    for warning in calibration.warnings:
        named = str(warning.get("code", "")).replace("_", " ")
        message = str(warning.get("message", ""))
        lines += paragraph(Text.assemble((f"{named}: " if named else "", "bold yellow"), message), first="- ")
    return lines
