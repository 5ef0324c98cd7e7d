"""How the device answers to load: small random reads, so many at a time, with the knees marked and explained."""

from __future__ import annotations

from statistics import median

from rich.text import Text

from dbdyno.analysis.calibration.findings import Calibration
from dbdyno.report import numbers
from dbdyno.report.calibration.latencies import estimates, intervals
from dbdyno.report.calibration.words import knee_sentence, lettered, letters_at
from dbdyno.report.layout import Column, Row, paragraph, table
from dbdyno.report.sections.arms import title


def loads(calibration: Calibration) -> list[Text]:
    """One row a depth, then one paragraph a knee."""
    shown = calibration.loads
    if not shown:
        return []
    rates = [load.iops for load in shown]
    unit = numbers.time_unit(median(load.latency.p50_ns.estimate for load in shown))
    marks = tuple(letters_at(calibration, load.depth) for load in shown)
    cpu_ns = [load.cpu_ns_per_io for load in shown]
    over = f"response time, {unit.name}"
    columns = [
        Column(("knee",), marks, style="bold yellow", words=True),
        estimates("IOPS", rates, numbers.ONE),
        intervals(rates, numbers.ONE),
        estimates("mean", [load.latency.mean_ns for load in shown], unit, span=over),
        estimates("p50", [load.latency.p50_ns for load in shown], unit, span=over),
        estimates("p99", [load.latency.p99_ns for load in shown], unit, span=over),
        estimates("p99.9", [load.latency.p999_ns for load in shown], unit, span=over),
        Column(("CPU us", "an I/O"), tuple(numbers.in_unit(ns, numbers.MICROSECONDS, 1) for ns in cpu_ns)),
    ]
    lines = title("Load: small random reads, so many at a time (depth)")
    return [*lines, *table([Row(str(load.depth)) for load in shown], columns), *_knees(calibration)]


def _knees(calibration: Calibration) -> list[Text]:
    lines: list[Text] = []
    for letter, knee in lettered(calibration):
        said = Text.assemble((f"{letter} ", "bold yellow"), knee_sentence(knee, calibration))
        lines += paragraph(said, rest="  ")
    return lines or paragraph(Text("No knee: too few depths were measured, or nothing was read.", style="dim"))
