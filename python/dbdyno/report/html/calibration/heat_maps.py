"""Latency heat maps over load and over time, and their modes: what each costs, and when its I/Os come."""

from __future__ import annotations

from dbdyno.analysis.calibration.findings import Calibration, HeatMap
from dbdyno.report.html import palette
from dbdyno.report.html.calibration.heat_cells import panels
from dbdyno.report.html.chart import Chart, Key
from dbdyno.report.html.palette import Fill, Shade
from dbdyno.report.html.quantity import time_unit, whole
from dbdyno.report.html.scale import tick_text
from dbdyno.report.html.table import Cell, Column, Piece, Section, Table
from dbdyno.report.numbers import percent


def chart(calibration: Calibration) -> Chart | None:
    """Two panels for each heat map; None where nothing was recorded."""
    maps = [one for one in calibration.heat_maps if any(ios for _, _, ios in one.cells)]
    if not maps:
        return None
    return Chart(
        id="latencies",
        short="Heat maps",
        heading="How long the reads took",
        caption=(
            "Response times (upwards, logarithmic) by load or over time (to the right). Blue: how many I/Os; "
            "orange: the time that they took together. The fuller the colour, the more, on a logarithmic scale of "
            "each panel."
        ),
        reading=(
            "Both maps of a pair show the same I/Os. A band that is faint in blue and full in orange is a slow "
            "mode: few I/Os, much time, and a mean over all I/Os is that of no band. Over "
            "load, each column adds up to 100 %; bands that climb are queues. Over time, a band that comes and goes is "
            "another tenant or a throttle. The time of a cell is its number of I/Os times the middle of its bin, which "
            "is 4.7 % wide."
        ),
        panels=[one for each in maps for one in panels(each)],
        keys=[
            Key("few to many I/Os", Shade(palette.FREQUENCY)),
            Key("little to much time", Shade(palette.INTENSITY)),
        ],
        columns=2,
        tables=[
            (f"{one.name}: I/Os and time by length", by_decade(one, f"latencies-{place}"))
            for place, one in enumerate(maps, 1)
        ],
    )


def modes_table(calibration: Calibration) -> Table | None:
    """Every mode with its shares of the I/Os and of the time, as figures and as bars."""
    if not calibration.modes:
        return None
    unit = time_unit([min(mode.centre_ns for mode in calibration.modes)])
    rows = [
        [
            Cell(f"mode {place}", mode.pattern or ""),
            Cell(unit.text(mode.centre_ns), f"{unit.text(mode.low_ns)} to {unit.text(mode.high_ns)}"),
            Cell(percent(mode.share_of_ios), bar=[Piece(Fill(palette.FREQUENCY), 0, 100 * mode.share_of_ios)]),
            Cell(percent(mode.share_of_time), bar=[Piece(Fill(palette.INTENSITY), 0, 100 * mode.share_of_time)]),
        ]
        for place, mode in enumerate(calibration.modes, 1)
    ]
    columns = [
        Column("mode", figures=False),
        Column("centre", unit.name),
        Column("share of I/Os"),
        Column("share of time"),
    ]
    return Table("modes", columns, [Section(None, rows)])


def by_decade(heat_map: HeatMap, id_: str) -> Table:
    """The two maps laid flat: a decade a row, over all columns."""
    ios, time_ns = _sums(heat_map)
    all_ios, all_ns = sum(ios.values()), sum(time_ns.values())
    unit = time_unit(time_ns.values())
    rows = [
        [
            Cell(f"{tick_text(10.0**decade)} to {tick_text(10.0 ** (decade + 1))}"),
            Cell(whole(ios[decade])),
            Cell(percent(ios[decade] / all_ios)),
            Cell(unit.text(time_ns[decade])),
            Cell(percent(time_ns[decade] / all_ns)),
        ]
        for decade in sorted(ios)
    ]
    columns = [
        Column("reads that took", figures=False),
        Column("I/Os"),
        Column("of all I/Os"),
        Column("time", unit.name),
        Column("of all time"),
    ]
    return Table(id_, columns, [Section(None, rows)])


def _sums(heat_map: HeatMap) -> tuple[dict[int, int], dict[int, float]]:
    ios: dict[int, int] = {}
    time_ns: dict[int, float] = {}
    for (_, place, count), (_, _, ns) in zip(heat_map.cells, heat_map.time_cells, strict=True):
        decade = place // heat_map.bins_per_decade
        ios[decade] = ios.get(decade, 0) + count
        time_ns[decade] = time_ns.get(decade, 0.0) + ns
    return ios, time_ns
