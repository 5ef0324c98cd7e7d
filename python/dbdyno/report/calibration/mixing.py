"""Reads beside writes: what a checkpoint does to the slow reads."""

from __future__ import annotations

from statistics import median

from rich.text import Text

from dbdyno.analysis.calibration.findings import Calibration, Mixed
from dbdyno.analysis.findings import Estimate
from dbdyno.report import numbers
from dbdyno.report.calibration.latencies import estimates, intervals
from dbdyno.report.layout import Column, Row, paragraph, table
from dbdyno.report.sections.arms import title

# Of what was asked for: less is not kept up with.
KEPT_UP = 0.95


def mixed(calibration: Calibration) -> list[Text]:
    """One row a rate of reads and of writes; the baseline is the same reads without writes."""
    every = calibration.mixed
    if not every:
        return []
    unit = numbers.time_unit(median(one.p99_ns.estimate for one in every))
    ratios, over, against = [one.ratio for one in every], f"reads, {unit.name}", "p99 against no writes"
    columns = [
        estimates("reads/s", [one.reads_per_s for one in every], numbers.ONE),
        estimates("writes/s", [one.writes_per_s for one in every], numbers.ONE),
        estimates("p50", [one.p50_ns for one in every], unit, span=over),
        estimates("p99", [one.p99_ns for one in every], unit, span=over),
        intervals([one.p99_ns for one in every], unit, span=over),
        Column(("ratio",), tuple(_ratio(ratio) for ratio in ratios), style="bold", span=against),
        Column(("95 %",), tuple(_interval(ratio) for ratio in ratios), style="dim", words=True, span=against),
    ]
    lines = title("Reads beside writes: both come as they come, at shares of the knee")
    lines += table([Row(_named(one)) for one in every], columns)
    late = [one for one in every if not keeps_up(one)]
    if late:
        named = ", ".join(_named(one) for one in late)
        lines += paragraph(Text(f"Not kept up with, so times only say that it fell behind: {named}.", style="dim"))
    return lines


def keeps_up(one: Mixed) -> bool:
    """Whether the device did what was asked of it."""
    return one.reads_per_s.estimate + one.writes_per_s.estimate >= KEPT_UP * one.asked_per_s


def _named(one: Mixed) -> str:
    return f"{one.read_share:.0%} + {one.write_share:.0%}"


def _ratio(ratio: Estimate | None) -> str:
    return "1" if ratio is None else numbers.ratio(ratio.estimate)


def _interval(ratio: Estimate | None) -> str:
    return "" if ratio is None else numbers.interval(ratio.low, ratio.high)
