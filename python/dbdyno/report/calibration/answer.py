"""The answer, on one screen: what was recognised, and how far it may be believed."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from dbdyno.analysis.calibration.findings import Calibration
from dbdyno.report.calibration.words import QUALITIES, directory_of, measured_words
from dbdyno.report.layout import paragraph

STYLES = {"sound": "bold green", "indicative": "bold yellow", "no conclusion": "bold red"}


def answer(calibration: Calibration) -> Iterator[Text]:
    """Verdicts in the order of the findings, then the quality with its reasons, then what was measured."""
    yield from paragraph(Text(f"{directory_of(calibration)}: what this storage can do", style="bold"))
    yield Text()
    for place, verdict in enumerate(calibration.verdicts, 1):
        yield from paragraph(Text.assemble((f"{place}. ", "bold"), verdict.sentence), rest="   ")
    if not calibration.verdicts:
        yield from paragraph(Text("Nothing could be concluded."))
    yield Text()
    yield from quality(calibration)
    yield from paragraph(Text(measured_words(calibration), style="dim"))


def quality(calibration: Calibration) -> list[Text]:
    """One paragraph: the word, what it means, and why it is not a better one."""
    named = calibration.quality
    words = QUALITIES.get(named, named)
    said = Text.assemble(("Quality: ", "bold"), (named, STYLES.get(named, "bold")), words.removeprefix(named))
    if calibration.reasons:
        said.append(", because " + "; ".join(calibration.reasons))
    return paragraph(said.append("."))
