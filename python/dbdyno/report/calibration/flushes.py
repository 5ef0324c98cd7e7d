"""What a commit costs: the flush methods against fdatasync, and what writers gain from flushing together."""

from __future__ import annotations

from statistics import median

from rich.text import Text

from dbdyno.analysis.calibration.findings import Calibration
from dbdyno.analysis.findings import Estimate
from dbdyno.report import numbers
from dbdyno.report.calibration.latencies import estimates, intervals
from dbdyno.report.calibration.words import growing_sentence
from dbdyno.report.layout import Column, Row, paragraph, table
from dbdyno.report.sections.arms import title


def flushes(calibration: Calibration) -> list[Text]:
    """One row a method; blocks were interleaved, so that ratios are of neighbours."""
    methods = calibration.flush
    if not methods:
        return []
    unit = numbers.time_unit(median(flush.p50_ns.estimate for flush in methods))
    ratios, against = [flush.ratio for flush in methods], "median against fdatasync"
    columns = [
        Column(("commits",), tuple(f"{flush.commits:,}" for flush in methods)),
        estimates("p50", [flush.p50_ns for flush in methods], unit, span=f"flush, {unit.name}"),
        Column(("p99",), tuple(numbers.in_unit(flush.p99_ns, unit) for flush in methods), span=f"flush, {unit.name}"),
        Column(("ratio",), tuple(_ratio(one) for one in ratios), style="bold", span=against),
        Column(("95 %",), tuple(_interval(one) for one in ratios), style="dim", words=True, span=against),
        Column(("p", "(Holm)"), tuple(numbers.p_value(flush.p_value_holm) for flush in methods)),
        Column(("verdict",), tuple(flush.verdict or "baseline" for flush in methods), words=True),
    ]
    lines = title("Flushes: one writer, one commit after another, by wal_sync_method")
    grows = growing_sentence(calibration)
    rows = [Row(flush.method) for flush in methods]
    return [*lines, *table(rows, columns), *(paragraph(Text(grows, style="dim")) if grows else [])]


def _ratio(of_method: Estimate | None) -> str:
    """That of fdatasync to itself is 1."""
    return "1" if of_method is None else numbers.ratio(of_method.estimate)


def _interval(of_method: Estimate | None) -> str:
    return "" if of_method is None else numbers.interval(of_method.low, of_method.high)


def group_commit(calibration: Calibration) -> list[Text]:
    """Writers that share a flush."""
    every = calibration.group_commit
    if not every:
        return []
    rates = [one.commits_per_s for one in every]
    unit = numbers.time_unit(median(one.p50_ns for one in every))
    columns = [
        estimates("commits/s", rates, numbers.ONE),
        intervals(rates, numbers.ONE),
        Column((f"p50, {unit.name}",), tuple(numbers.in_unit(one.p50_ns, unit) for one in every)),
        Column(("commits", "a flush"), tuple(numbers.in_unit(one.commits_per_flush, numbers.ONE, 1) for one in every)),
    ]
    lines = title("Group commit: one writer flushes for all who wait")
    lines += table([Row(numbers.count(one.writers, "writer")) for one in every], columns)
    return lines


def no_flushes(calibration: Calibration) -> list[Text]:
    """Where nothing was written, that is said: reads say nothing about commits."""
    if calibration.flush or calibration.group_commit:
        return []
    return paragraph(Text("No flush was measured: nothing here says what a commit costs.", style="dim"))
