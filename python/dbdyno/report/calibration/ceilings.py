"""What was reached beside what was expected and what the link carries."""

from __future__ import annotations

from rich.text import Text

from dbdyno.analysis.calibration.findings import Calibration, Ceiling
from dbdyno.report import numbers
from dbdyno.report.calibration.words import MEGABYTES_PER_S
from dbdyno.report.layout import paragraph
from dbdyno.report.sections.arms import title


def ceilings(calibration: Calibration) -> list[Text]:
    """One line each: `62,300 of 100,000 expected IOPS (62 %)`."""
    if not calibration.ceilings:
        return []
    lines = title("Against what was expected")
    for one in calibration.ceilings:
        said = Text.assemble((sentence(one), "bold yellow" if one.above else ""))
        lines += paragraph(said, first="- ")
    return lines


def sentence(ceiling: Ceiling) -> str:
    """How much of it was reached, and by which load."""
    share = f"{ceiling.reached.estimate / ceiling.most:.0%}".replace("%", " %")
    beyond = ": more than chance explains" if ceiling.above else ""
    return f"{_reached(ceiling)} ({share}), {ceiling.at}{beyond}."


def _reached(ceiling: Ceiling) -> str:
    if ceiling.name == "expected_iops":
        return f"{_count(ceiling.reached.estimate)} of {_count(ceiling.most)} expected IOPS"
    rate, most = (numbers.in_unit(value, MEGABYTES_PER_S) for value in (ceiling.reached.estimate, ceiling.most))
    if ceiling.name == "link_bytes_per_s":
        return f"{rate} of {most} MB/s that its link carries ({ceiling.says})"
    return f"{rate} of {most} expected MB/s"


def _count(value: float) -> str:
    return numbers.significant(value)
