"""What disturbed the trials: from outside, from within, from the trial before."""

from __future__ import annotations

from rich.text import Text

from dbdyno.analysis.findings import Findings
from dbdyno.report.disturbance_words import Disturbance, carry_over_words, disturbances, looked_at
from dbdyno.report.layout import paragraph
from dbdyno.report.sections.arms import title


def disturbed(findings: Findings) -> list[Text]:
    """One entry a kind; one line where nothing did; nothing where nothing is known."""
    found = disturbances(findings)
    carried = findings.carry_over is not None and findings.carry_over.told
    if not found and not carried:
        words = f"none seen. Looked at: {looked_at(findings)}, and how steadily they ran."
        return paragraph(Text.assemble(("Disturbed trials: ", "bold"), words)) if findings.noise else []
    lines = title("What disturbed the trials (none was dropped for it)")
    for one in found:
        lines += paragraph(Text.assemble((f"{one.what}: ", "bold"), f"{_words(one)}."), first="- ")
    carry_over = carry_over_words(findings)
    if carry_over is not None:
        lines += paragraph(Text(f"{carry_over}."), first="- ")
    return lines


def _words(one: Disturbance) -> str:
    """As in: 3 of 48 trials above 5 % (up to 23 %), 0.96x the others; trials 4, 17, 33."""
    above = f" above {one.limit} (up to {one.largest})" if one.limit else ""
    effect = f", {one.effect}" if one.effect else ""
    where = f"; trial{'s' if len(one.hit) > 1 else ''} {one.places}" if one.hit else ""
    return f"{len(one.hit)} of {one.trials} trials{above}{effect}{where}"
