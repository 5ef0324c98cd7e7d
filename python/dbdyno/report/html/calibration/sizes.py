"""Bytes a second by size of the read: what larger reads bring, at random and one after another."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dbdyno.analysis.calibration.findings import Calibration, Size
from dbdyno.report.html import palette
from dbdyno.report.html.calibration.drawing import (
    RATE,
    bars,
    figure,
    from_zero,
    highest,
    leaving,
    line,
    named,
    size_axis,
)
from dbdyno.report.html.chart import Chart, Json, Key, panel
from dbdyno.report.html.palette import Mark, Stroke
from dbdyno.report.html.quantity import Unit, time_unit
from dbdyno.report.html.table import Cell, Column, Section, Table
from dbdyno.report.numbers import exact_size

HEIGHT_PX = 300
DASHES = ("solid", "dash", "dot")


def chart(calibration: Calibration) -> Chart | None:
    """A line for each depth, random and sequential; None where only small reads were made."""
    sizes = calibration.sizes
    if not sizes:
        return None
    marks = {key: _mark(key, sizes) for key in sorted({(size.depth, size.sequential) for size in sizes})}
    found = sorted({size.io_bytes for size in sizes})
    return Chart(
        id="sizes",
        short="Large reads",
        heading="What larger reads bring",
        caption="Throughput by size of the read, at random and one after another, with 95 % intervals."
        + leaving([size.bytes_per_s for size in sizes]),
        reading=(
            "A read costs something however small it is, so larger ones bring more, until the link or the device is "
            "full: from where the line is flat, larger reads bring only longer waits. Where random and sequential lie "
            "upon each other, the order does not matter to this storage, and neither does the distance between "
            "random_page_cost and seq_page_cost."
        ),
        panels=[
            panel(
                None,
                "Throughput by size: " + "; ".join(_spoken(size) for size in sizes) + ".",
                HEIGHT_PX,
                [_line(key, mark, sizes) for key, mark in marks.items()],
                x=size_axis("size of a read", found)
                | {"range": [math.log10(found[0]) - 0.1, math.log10(found[-1]) + 0.1]},
                y=from_zero("MB/s", highest([size.bytes_per_s for size in sizes]) / RATE.size),
            )
        ],
        keys=_keys(marks),
        tables=[("The same as figures", _table(sizes))],
    )


def _mark(key: tuple[int, bool], sizes: Sequence[Size]) -> Mark:
    depth, sequential = key
    turn = sorted({size.depth for size in sizes}).index(depth)
    colour, symbol = (palette.MEAN, "square") if sequential else (palette.P50, "circle")
    return Mark(colour, symbol, DASHES[turn % len(DASHES)])


def _keys(marks: dict[tuple[int, bool], Mark]) -> list[Key]:
    """The order says the colour and the symbol, the depth says the dash."""
    orders = {sequential: Mark(mark.colour, mark.symbol) for (_, sequential), mark in marks.items()}
    dashes = {depth: Stroke(palette.NEUTRAL, mark.dash) for (depth, _), mark in marks.items()}
    return [
        *(Key("sequential" if sequential else "random", mark) for sequential, mark in sorted(orders.items())),
        *(Key(f"{depth} at a time", stroke) for depth, stroke in dashes.items()),
    ]


def _named(key: tuple[int, bool]) -> str:
    depth, sequential = key
    dash = f", {depth} at a time"
    return ("sequential" if sequential else "random") + dash


def _line(key: tuple[int, bool], mark: Mark, sizes: Sequence[Size]) -> Json:
    shown = sorted((size for size in sizes if (size.depth, size.sequential) == key), key=lambda size: size.io_bytes)
    rates = [size.bytes_per_s for size in shown]
    words = [f"<b>{exact_size(size.io_bytes)}, {_named(key)}</b><br>{named(size.bytes_per_s, RATE)}" for size in shown]
    return line(
        _named(key), [size.io_bytes for size in shown], [rate.estimate / RATE.size for rate in rates], mark, words,
        error_y=bars(rates, mark.colour, RATE.size),
    )  # fmt: skip


def _spoken(size: Size) -> str:
    return f"{exact_size(size.io_bytes)} {_named((size.depth, size.sequential))}: {named(size.bytes_per_s, RATE)}"


def _table(sizes: Sequence[Size]) -> Table:
    unit = time_unit(size.mean_ns.estimate for size in sizes)
    sections = [
        Section(_named(key), [_row(size, unit) for size in sizes if (size.depth, size.sequential) == key])
        for key in sorted({(size.depth, size.sequential) for size in sizes})
    ]
    columns = [Column("size", figures=False), Column("throughput", RATE.name), Column("mean", unit.name)]
    return Table("sizes", columns, sections)


def _row(size: Size, unit: Unit) -> list[Cell]:
    return [Cell(exact_size(size.io_bytes)), figure(size.bytes_per_s, RATE), figure(size.mean_ns, unit)]
