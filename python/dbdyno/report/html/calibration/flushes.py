"""Flushes: a forest plot of the methods against fdatasync, and what writers gain from flushing together."""

from __future__ import annotations

from collections.abc import Sequence

from dbdyno.analysis.calibration.findings import Calibration, Flush, GroupCommit
from dbdyno.analysis.findings import Estimate
from dbdyno.report.html import forest, palette
from dbdyno.report.html.calibration.drawing import bars, figure, from_zero, highest, line, named
from dbdyno.report.html.chart import Chart, Json, Key, Panel, literal, panel, title
from dbdyno.report.html.palette import Mark
from dbdyno.report.html.quantity import Unit, ratio_ends, time_unit, whole
from dbdyno.report.html.rows import Row, lay_out
from dbdyno.report.html.scale import ratio_axis, ratio_range
from dbdyno.report.html.table import Cell, Column, Section, Table
from dbdyno.report.numbers import p_value, ratio, significant

BAND_PX, HEIGHT_PX = 22, 240
WRITERS = Mark(palette.MEAN, "diamond")
RATE = Unit("commits/s", 1.0)
# On either side of 1 at least this much is shown: without it, noise would fill the width.
LEAST_RANGE = 0.05


def chart(calibration: Calibration) -> Chart | None:
    """The methods, and the writers; None where nothing was flushed."""
    methods, writers = calibration.flush, calibration.group_commit
    if not methods and not writers:
        return None
    tables = [("Methods as figures", _methods_table(methods))] if methods else []
    tables += [("Group commit as figures", _writers_table(writers))] if writers else []
    return Chart(
        id="flush",
        short="Flushes",
        heading="What a commit costs",
        caption=(
            "The median time of one writer's commit by each method, as a ratio to fdatasync: left of the line is "
            "faster. And what writers gain when one of them flushes for all. Both with 95 % intervals."
        ),
        reading=(
            "The methods took turns in short blocks in random order, and a ratio is made of neighbours: runs of one "
            "method after another name a different winner each time. An interval that holds 1x is no difference. A "
            "flush says that the device acknowledged, not that the data would survive: only cutting the power shows "
            "that."
        ),
        panels=[*([_forest(methods)] if methods else []), *([_group_commit(writers)] if writers else [])],
        keys=[
            *(forest.verdict_keys() if methods else []),
            *([Key("commits a second", WRITERS)] if writers else []),
        ],
        columns=2,
        tables=tables,
    )  # fmt: skip


def _forest(methods: Sequence[Flush]) -> Panel:
    rows = lay_out([(flush.method, _words(flush)) for flush in methods], BAND_PX)
    ratios = [flush.ratio for flush in methods if flush.ratio is not None]
    ends = [end for one in ratios for end in (one.low, one.estimate, one.high)]
    return panel(
        "median time of a flush against fdatasync",
        "Flush methods: " + "; ".join(f"{flush.method}: {_words(flush)}" for flush in methods) + ".",
        rows.height_px + forest.AXIS_PX,
        [_mark(flush, row) for flush, row in zip(methods, rows.rows, strict=True)],
        x=ratio_axis(*ratio_range([end for end in ends if end is not None], LEAST_RANGE)),
        y=rows.axis(),
        annotations=rows.notes,
        shapes=[forest.unity(rows)],
    )


def _words(flush: Flush) -> str:
    """The verdict, the ratio and its interval; for fdatasync its own time."""
    if flush.ratio is None:
        return f"{named(flush.p50_ns, time_unit([flush.p50_ns.estimate]))}"
    ends = ratio_ends(flush.ratio)
    return f"{flush.verdict or 'undecided'}  {ratio(flush.ratio.estimate)}" + (f" ({ends})" if ends else "")


def _mark(flush: Flush, row: Row) -> Json:
    hover = f"<b>{literal(flush.method)}</b><br>{literal(_words(flush))}"
    ratio_of_one = Estimate(1.0, None, None)  # fdatasync itself
    return forest.marked(flush.method, flush.ratio or ratio_of_one, row, forest.mark_of(flush.verdict), hover)


def _group_commit(writers: Sequence[GroupCommit]) -> Panel:
    counts, rates = [one.writers for one in writers], [one.commits_per_s for one in writers]
    words = [
        f"<b>{one.writers} writers</b><br>{named(one.commits_per_s, RATE)}<br>"
        f"{significant(one.commits_per_flush)} commits a flush"
        for one in writers
    ]
    spoken = "; ".join(f"{one.writers} writers: {named(one.commits_per_s, RATE)}" for one in writers)
    return panel(
        "group commit",
        f"Commits a second by writers: {spoken}.",
        HEIGHT_PX,
        [line("commits a second", counts, [one.estimate for one in rates], WRITERS, words,
              error_y=bars(rates, WRITERS.colour))],
        x={"title": title("writers"), "tickmode": "array", "tickvals": counts, "showgrid": False, "showline": True,
           "range": [0, counts[-1] * 1.06]},
        y=from_zero("commits/s", highest(rates)),
    )  # fmt: skip


def _methods_table(methods: Sequence[Flush]) -> Table:
    unit = time_unit(flush.p50_ns.estimate for flush in methods)
    rows = [
        [
            Cell(flush.method),
            Cell(whole(flush.commits)),
            figure(flush.p50_ns, unit),
            Cell(unit.text(flush.p99_ns)),
            Cell("1") if flush.ratio is None else Cell(ratio(flush.ratio.estimate), ratio_ends(flush.ratio)),
            Cell(p_value(flush.p_value_holm)),
            Cell(flush.verdict or "baseline"),
        ]
        for flush in methods
    ]
    columns = [
        Column("method", figures=False),
        Column("commits"),
        Column("median", unit.name),
        Column("p99", unit.name),
        Column("ratio to fdatasync"),
        Column("p (Holm)"),
        Column("verdict", figures=False),
    ]
    return Table("flush", columns, [Section(None, rows)])


def _writers_table(writers: Sequence[GroupCommit]) -> Table:
    unit = time_unit(one.p50_ns for one in writers)
    rows = [
        [
            Cell(str(one.writers)),
            figure(one.commits_per_s, RATE),
            Cell(unit.text(one.p50_ns)),
            Cell(significant(one.commits_per_flush)),
        ]
        for one in writers
    ]
    columns = [
        Column("writers", figures=False),
        Column("commits a second"),
        Column("median commit", unit.name),
        Column("commits a flush"),
    ]
    return Table("group-commit", columns, [Section(None, rows)])
