"""Whether every arm did what its name says."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from dbdyno.analysis.findings import Arm, Check
from dbdyno.report.layout import paragraph
from dbdyno.report.sections.arms import title
from dbdyno.report.sentences import failed_check


def checks(arms: Sequence[Arm]) -> list[Text]:
    """One line where all hold; otherwise those that failed, each with what it showed."""
    every = [check for arm in arms for check in arm.checks]
    if not every:
        return []
    failed = [(arm, check) for arm in arms for check in arm.failed_checks]
    kinds = ", ".join(dict.fromkeys(_kind(check) for check in every))
    if not failed:
        number = "the one check holds" if len(every) == 1 else f"all {len(every)} checks hold"
        return paragraph(Text.assemble(("Checks: ", "bold"), f"{number} ({kinds})."))
    lines = title(f"Checks: {len(failed)} of {len(every)} failed")
    for arm, check in failed:
        lines += paragraph(Text.assemble((f"{arm.arm}: ", "bold yellow"), f"{failed_check(check)}."), first="- ")
    return lines


def _kind(check: Check) -> str:
    """Schemas bring invariants by the dozen; one word says that they hold."""
    return "invariants" if check.check.startswith("invariant ") else check.check
