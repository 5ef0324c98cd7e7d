"""Reads beside writes: the slow reads by the rate of writes, a line for each rate of reads."""

from __future__ import annotations

from collections.abc import Sequence

from dbdyno.analysis.calibration.findings import Calibration, Mixed
from dbdyno.report.html import palette
from dbdyno.report.html.calibration.drawing import bars, figure, from_zero, highest, leaving, line, lowest, named
from dbdyno.report.html.chart import Chart, Json, Key, panel, title
from dbdyno.report.html.palette import Mark
from dbdyno.report.html.quantity import Unit, ratio_ends, time_unit
from dbdyno.report.html.scale import time_axis
from dbdyno.report.html.table import Cell, Column, Section, Table
from dbdyno.report.numbers import ratio

HEIGHT_PX = 300
RATE = Unit("a second", 1.0)
MARKS = (Mark(palette.P50, "circle"), Mark(palette.MEAN, "square", "dash"), Mark(palette.NEUTRAL, "diamond", "dot"))


def chart(calibration: Calibration) -> Chart | None:
    """None where nothing was written."""
    every = calibration.mixed
    if not every:
        return None
    marks = {share: MARKS[place % len(MARKS)] for place, share in enumerate(sorted({one.read_share for one in every}))}
    times = [one.p99_ns for one in every]
    unit = time_unit([time.estimate for time in times])
    return Chart(
        id="mixed",
        short="Reads beside writes",
        heading="What writes do to reads",
        caption="The 99th percentile of reads by how many writes come beside them, with 95 % intervals."
        + leaving([], times),
        reading=(
            "Reads and writes of 8 KiB come at random times, at shares of the throughput at the knee, and the file is "
            "flushed every 50 ms, as a checkpoint flushes. Times are those of the reads, from when each was due. A "
            "line that climbs from its left end says what a checkpoint costs those who read; a line that leaps says "
            "that the device no longer keeps up. Where a line has doubled there are too many writes at a time for "
            "those who read: spread checkpoints wider."
        ),
        panels=[
            panel(
                None,
                "99th percentile of reads by writes: " + "; ".join(_spoken(one, unit) for one in every) + ".",
                HEIGHT_PX,
                [_line(share, mark, every) for share, mark in marks.items()],
                x=_writes_axis(max(one.writes_per_s.estimate for one in every)),
                y=time_axis(lowest(times) / 1.3, highest(times) * 1.3) | {"title": title("p99 of reads")},
            )
        ],
        keys=[Key(_of(share), mark) for share, mark in marks.items()],
        tables=[("The same as figures", _table(every, unit))],
    )


def _of(share: float) -> str:
    return f"reads at {share:.0%} of the knee"


def _spoken(one: Mixed, unit: Unit) -> str:
    return f"{_of(one.read_share)} and {named(one.writes_per_s, RATE)} writes: {named(one.p99_ns, unit)}"


def _writes_axis(most: float) -> Json:
    """From a little below zero, where the reads without writes stand."""
    return from_zero("writes a second", most) | {"range": [-0.03 * most, 1.06 * most], "showgrid": False}


def _line(share: float, mark: Mark, every: Sequence[Mixed]) -> Json:
    shown = sorted((one for one in every if one.read_share == share), key=lambda one: one.write_share)
    times = [one.p99_ns for one in shown]
    words = [
        f"<b>{one.reads_per_s.estimate:,.0f} reads, {one.writes_per_s.estimate:,.0f} writes a second</b><br>"
        f"p99 {named(one.p99_ns, time_unit([one.p99_ns.estimate]))}"
        for one in shown
    ]
    return line(
        _of(share), [one.writes_per_s.estimate for one in shown], [time.estimate for time in times], mark, words,
        error_y=bars(times, mark.colour),
    )  # fmt: skip


def _table(every: Sequence[Mixed], unit: Unit) -> Table:
    rows = [
        [
            Cell(f"{one.read_share:.0%} + {one.write_share:.0%}"),
            figure(one.reads_per_s, RATE),
            figure(one.writes_per_s, RATE),
            figure(one.p50_ns, unit),
            figure(one.p99_ns, unit),
            Cell("1") if one.ratio is None else Cell(ratio(one.ratio.estimate), ratio_ends(one.ratio)),
        ]
        for one in every
    ]
    columns = [
        Column("reads + writes", figures=False),
        Column("reads a second"),
        Column("writes a second"),
        Column("median read", unit.name),
        Column("p99 of reads", unit.name),
        Column("p99 against no writes"),
    ]
    return Table("mixed", columns, [Section(None, rows)])
