"""The response-time curve: throughput by depth, and what each further I/O a second costs in response time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from dbdyno.analysis.calibration.findings import Calibration, Latency, Load
from dbdyno.analysis.findings import Estimate
from dbdyno.report.calibration.words import knee_sentence, lettered, letters_at
from dbdyno.report.html import palette
from dbdyno.report.html.calibration.drawing import (
    bars,
    depth_axis,
    figure,
    from_zero,
    highest,
    leaving,
    line,
    lowest,
    named,
    times,
)
from dbdyno.report.html.chart import Chart, Json, Key, Panel, note, panel, title
from dbdyno.report.html.palette import Mark
from dbdyno.report.html.quantity import Unit, time_unit
from dbdyno.report.html.scale import time_axis
from dbdyno.report.html.table import Cell, Column, Section, Table

HEIGHT_PX = 320
THROUGHPUT, KNEE = Mark(palette.NEUTRAL, "circle"), Mark(palette.KNEE, "diamond")
CLOCKS: dict[str, tuple[Mark, Callable[[Latency], Estimate]]] = {
    "p99": (Mark(palette.P99, "triangle-up"), lambda latency: latency.p99_ns),
    "mean": (Mark(palette.MEAN, "square"), lambda latency: latency.mean_ns),
    "p50": (Mark(palette.P50, "circle"), lambda latency: latency.p50_ns),
}
ONE, CPU = Unit("IOPS", 1.0), Unit("µs", 1e3)
# Letters nearer than this share of the axis would lie upon each other.
NEAR = 0.07


def chart(calibration: Calibration) -> Chart | None:
    """Throughput by depth, and response time by throughput, with the knees; None where no load was measured."""
    loads = calibration.loads
    if not loads:
        return None
    return Chart(
        id="curve",
        short="Load",
        heading="How the storage answers to load",
        words=[(f"Knee {letter}", knee_sentence(knee, calibration)) for letter, knee in lettered(calibration)],
        caption=(
            "Throughput of small random reads by how many are under way, and response time against that "
            "throughput. Bars are 95 % intervals, of the throughput on the mean's line only; the letters are the knees."
            + leaving(_rates(calibration), _clocks(loads))
        ),
        reading=(
            "Every point is one depth; the curve runs from the smallest to the greatest. Where throughput still grows "
            "and response time stands, the device works side by side; where only response time grows, the reads wait "
            "in line. Where a curve bends most depends on how its axes are drawn, so a knee is never read off the "
            "picture: each has a formula that does not know the scale, and the interval of its depth comes with it."
        ),
        panels=[_by_depth(calibration), _by_throughput(calibration)],
        keys=[
            Key("throughput", THROUGHPUT),
            *(Key(name, mark) for name, (mark, _) in CLOCKS.items()),
            *([Key("knee, with the interval of its depth and throughput", KNEE)] if calibration.knee else []),
        ],
        columns=2,
        tables=[("The same as figures", _table(calibration))],
    )


def _rates(calibration: Calibration) -> list[Estimate]:
    return [load.iops for load in calibration.loads] + [knee.iops for knee in calibration.knee]


def _clocks(loads: Sequence[Load]) -> list[Estimate]:
    return [of(load.latency) for load in loads for _, of in CLOCKS.values()]


def _by_depth(calibration: Calibration) -> Panel:
    loads = calibration.loads
    rates = [load.iops for load in loads]
    most = highest(_rates(calibration))
    depths = [load.depth for load in loads]
    words = [f"<b>depth {load.depth}</b><br>{named(load.iops, ONE)}" for load in loads]
    trace = line("throughput", depths, [rate.estimate for rate in rates], THROUGHPUT, words,
                 error_y=bars(rates, THROUGHPUT.colour))  # fmt: skip
    letters = _letters([(math.log10(knee.depth), letter) for letter, knee in lettered(calibration)], _log_width(depths))
    return panel(
        "throughput by depth",
        "Throughput by depth: " + "; ".join(f"{load.depth}: {named(load.iops, ONE)}" for load in loads) + ".",
        HEIGHT_PX,
        [trace, *_knees(calibration, depths[0])],
        x=depth_axis(depths) | {"range": _log_range(depths)},
        y=from_zero("IOPS", most),
        annotations=letters,
    )


def _knees(calibration: Calibration, smallest: int) -> list[Json]:
    """A diamond for each knee, with the interval of its depth to the sides and of its throughput up and down."""
    knees = calibration.knee
    if not knees:
        return []
    sides = [Estimate(knee.depth, max(knee.depth_low, smallest), knee.depth_high) for knee in knees]
    words = [
        f"<b>knee {letter}</b>: depth {knee.depth} ({knee.depth_low} to {knee.depth_high})<br>{named(knee.iops, ONE)}"
        for letter, knee in lettered(calibration)
    ]
    trace = line(
        "knees", [knee.depth for knee in knees], [knee.iops.estimate for knee in knees], KNEE, words, mode="markers",
        error_x=bars(sides, KNEE.colour), error_y=bars([knee.iops for knee in knees], KNEE.colour),
    )  # fmt: skip
    marker = {"color": KNEE.colour, "symbol": f"{KNEE.symbol}-open", "size": 13, "line": {"width": 2}}
    return [trace | {"marker": marker}]


def _by_throughput(calibration: Calibration) -> Panel:
    loads = calibration.loads
    most = highest([load.iops for load in loads])
    low, high = lowest(_clocks(loads)), highest(_clocks(loads))
    letters = _letters([(knee.iops.estimate, letter) for letter, knee in lettered(calibration)], most * 1.12)
    return panel(
        "response time against throughput",
        "Response time against throughput, " + "; ".join(_spoken(load) for load in loads) + ".",
        HEIGHT_PX,
        [_clock(name, loads) for name in CLOCKS],
        x=from_zero("IOPS", most),
        y=time_axis(low / 1.3, high * 1.6) | {"title": title("response time")},
        annotations=letters,
        shapes=[_upright(knee.iops.estimate) for knee in calibration.knee],
    )


def _clock(name: str, loads: Sequence[Load]) -> Json:
    mark, of = CLOCKS[name]
    clock, rates = [of(load.latency) for load in loads], [load.iops for load in loads]
    words = [
        f"<b>{name} at depth {load.depth}</b><br>{named(time, time_unit([time.estimate]))}<br>{named(load.iops, ONE)}"
        for load, time in zip(loads, clock, strict=True)
    ]
    return line(
        name, [rate.estimate for rate in rates], [time.estimate for time in clock], mark, words,
        error_y=bars(clock, mark.colour), **({"error_x": bars(rates, mark.colour)} if name == "mean" else {}),
    )  # fmt: skip


def _spoken(load: Load) -> str:
    mean = load.latency.mean_ns
    return f"depth {load.depth}: {named(load.iops, ONE)}, mean {named(mean, time_unit([mean.estimate]))}"


def _upright(iops: float) -> Json:
    return {
        "type": "line", "x0": iops, "x1": iops, "yref": "paper", "y0": 0, "y1": 0.93,
        "line": {"color": KNEE.colour, "width": 1.5, "dash": "dot"}, "layer": "below",
    }  # fmt: skip


def _letters(places: Sequence[tuple[float, str]], width: float) -> list[Json]:
    """The letters of the knees at the top of a panel; those that would lie upon each other stand together."""
    together: list[tuple[float, str]] = []
    for at, letter in sorted(places):
        if together and at - together[-1][0] < NEAR * width:
            together[-1] = (together[-1][0], f"{together[-1][1]} {letter}")
        else:
            together.append((at, letter))
    return [note(f"<b>{letters}</b>", x=at, y=0.97, yref="paper") for at, letters in together]


def _log_range(depths: Sequence[int]) -> list[float]:
    return [math.log10(depths[0]) - 0.08, math.log10(depths[-1]) + 0.08]


def _log_width(depths: Sequence[int]) -> float:
    low, high = _log_range(depths)
    return high - low


def _table(calibration: Calibration) -> Table:
    """Every depth with all its figures; the letters of the knees stand beside the depth."""
    loads = calibration.loads
    unit = time_unit(load.latency.mean_ns.estimate for load in loads)
    columns = [
        Column("depth", figures=False),
        Column("throughput", "IOPS"),
        *(Column(name, unit.name) for name in ("mean", "p50", "p90", "p99", "p99.9")),
        Column("CPU for an I/O", CPU.name),
        Column("blocks"),
    ]
    return Table("curve", columns, [Section(None, [_row(load, calibration, unit) for load in loads])])


def _row(load: Load, calibration: Calibration, unit: Unit) -> list[Cell]:
    letters = letters_at(calibration, load.depth)
    return [
        Cell(str(load.depth), f"knee {letters}" if letters else ""),
        figure(load.iops, ONE),
        *times(load.latency, unit),
        Cell(CPU.text(load.cpu_ns_per_io)),
        Cell(str(load.blocks)),
    ]
