"""Files that were there, side by side, and a third of one that is slower than its others."""

from __future__ import annotations

from statistics import median

from rich.text import Text

from dbdyno.analysis.calibration.findings import Calibration, FileFigures
from dbdyno.report import numbers
from dbdyno.report.calibration.latencies import estimates
from dbdyno.report.layout import Column, Row, paragraph, table
from dbdyno.report.sections.arms import title

THIRDS = ("first", "middle", "last")


def files(calibration: Calibration) -> list[Text]:
    """A row for each file: idle response times, IOPS, zeros, and each third against the other two."""
    shown = calibration.files
    if not shown:
        return []
    unit = numbers.time_unit(median([file.idle.p50_ns.estimate for file in shown if file.idle is not None] or [1e5]))
    over, thirds = f"one read, {unit.name}", "thirds, x the rest"
    columns = [
        Column(("size",), tuple(numbers.exact_size(file.bytes_) for file in shown)),
        estimates("p50", [None if file.idle is None else file.idle.p50_ns for file in shown], unit, span=over),
        estimates("p99", [None if file.idle is None else file.idle.p99_ns for file in shown], unit, span=over),
        estimates(f"IOPS at {max(file.depth for file in shown)}", [file.iops for file in shown], numbers.ONE),
        Column(("zero", "pages, %"), tuple(numbers.in_unit(file.zero_share, numbers.PER_CENT, 1) for file in shown)),
        *(
            Column((name,), tuple(third_of(file, place) for file in shown), span=thirds)
            for place, name in enumerate(THIRDS)
        ),
    ]
    lines = title("Per file: small random reads")
    lines += table([Row(file.path) for file in shown], columns)
    return [*lines, *paragraph(Text(files_sentence(calibration), style="dim"))]


def third_of(file: FileFigures, place: int) -> str:
    """How many times as long a read within it takes."""
    return numbers.in_unit(file.thirds[place].ratio.estimate, numbers.ONE, 2) if place < len(file.thirds) else "-"


def files_sentence(calibration: Calibration) -> str:
    """What the other figures are of, and that no third stands out where none does."""
    largest = max(calibration.files, key=lambda file: file.bytes_)
    slow = any(third.slow for file in calibration.files for third in file.thirds)
    thirds = "" if slow else " No third of a file is slower than its others."
    if len(calibration.files) == 1:
        return thirds[1:]
    return f"All other figures are of {largest.path}, the largest.{thirds}{_together(calibration)}"


def _together(calibration: Calibration) -> str:
    """What each gets of its IOPS while the others are read as well."""
    shares = [
        f"{file.path} {numbers.ratio(file.together.estimate)} "
        f"{numbers.interval(file.together.low, file.together.high)}".rstrip()
        for file in calibration.files
        if file.together is not None
    ]
    return f" While all are read at once each gets of its IOPS: {', '.join(shares)}." if shares else ""
