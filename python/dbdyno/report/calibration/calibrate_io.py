"""The four figures that DBMS_RESOURCE_MANAGER.CALIBRATE_IO would print, and beside each what it hides."""

from __future__ import annotations

from rich.text import Text

from dbdyno.analysis.calibration.findings import Calibration
from dbdyno.report.calibration.words import CALIBRATE_IO_FIGURES, calibrate_io_figures, calibrate_io_loads, notes_of
from dbdyno.report.layout import paragraph
from dbdyno.report.sections.arms import title

NAME_WIDTH = max(map(len, CALIBRATE_IO_FIGURES))


def calibrate_io(calibration: Calibration) -> list[Text]:
    """In its words, line by line."""
    said = calibration.calibrate_io
    if said is None:
        return []
    asked = f"num_disks {said.num_disks}, max_latency {said.max_latency_ms:g}"
    lines = title(f"As CALIBRATE_IO would say it, and what that hides ({asked})")
    for name, figure in calibrate_io_figures(calibration).items():
        lines.append(Text.assemble(f"{name.ljust(NAME_WIDTH)} = ", (figure, "bold")))
        for note in notes_of(calibration, name):
            lines += paragraph(Text(note, style="dim"), first="    - ", rest="      ")
    lines += paragraph(Text(calibrate_io_loads(calibration), style="dim"), first="- ")
    for note in notes_of(calibration, ""):
        lines += paragraph(Text(note, style="dim"), first="- ")
    return lines
