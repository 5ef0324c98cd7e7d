"""Requests by what they were for: a relation's share of the requests or bytes, beside its share of the size."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from dbdyno.analysis.server_profile.findings import IoLine, ServerProfile
from dbdyno.report.html import palette
from dbdyno.report.html.chart import GREY, Chart, Json, Key, Panel, literal, panel
from dbdyno.report.html.palette import Mark
from dbdyno.report.html.quantity import Unit, byte_unit, time_unit, whole
from dbdyno.report.html.rows import Row, lay_out
from dbdyno.report.html.table import Cell, Column, Section, Table
from dbdyno.report.numbers import percent

BAND_PX, AXIS_PX = 16, 30
# Lines with less than this share of their operation are left to the table.
LEAST_SHARE = 0.01
MOST_ROWS = 10
MOST_TABLE_ROWS = 40

TAKEN, HELD = Mark(palette.BETTER, "circle"), Mark(palette.NEUTRAL, "square-open")


def chart(profile: ServerProfile) -> Chart | None:
    """A panel for each kind of thing and operation whose size is known too; None where there is none."""
    groups = [(key, lines) for key, lines in _groups(profile.io) if any(line.size_share is not None for line in lines)]
    panels = [_panel(by, operation, lines) for (by, operation), lines in groups]
    if not panels:
        return None
    return Chart(
        id="io",
        short="I/O",
        heading="Which data the requests were for",
        caption="Share of what was read or written (of the bytes, where the server tells them) and of the size.",
        reading=(
            "Each row is a relation, a tablespace or a file. A filled circle far to the right of its square is a hot "
            "spot: little data that takes much of the I/O. From the server’s own counters between the beginning and "
            "the end of the profile; what its buffers or the kernel’s cache served is not device I/O."
        ),
        panels=panels,
        keys=[Key("share of the I/O", TAKEN), Key("share of the size", HELD)],
        columns=2,
    )  # fmt: skip


def tables(profile: ServerProfile) -> list[tuple[str, Table]]:
    """Every line, by relation, tablespace, file and backend type."""
    return [
        (by, _table(by, [line for line in profile.io if line.by == by]))
        for by in dict.fromkeys(line.by for line in profile.io)
    ]


def _groups(lines: Sequence[IoLine]) -> list[tuple[tuple[str, str], list[IoLine]]]:
    found: dict[tuple[str, str], list[IoLine]] = {}
    for line in lines:
        if line.operation != "hit" and line.share >= LEAST_SHARE:
            found.setdefault((line.by, line.operation), []).append(line)
    return [(key, sorted(held, key=lambda line: -line.share)[:MOST_ROWS]) for key, held in found.items()]


def _panel(by: str, operation: str, lines: Sequence[IoLine]) -> Panel:
    rows = lay_out([(line.name, _words(line)) for line in lines], BAND_PX)
    greatest = max(value for line in lines for value in (line.share, line.size_share or 0.0))
    return panel(
        f"{_many(operation)} by {by}",
        f"{_many(operation)} by {by}: " + "; ".join(f"{line.name} {_words(line)}" for line in lines) + ".",
        rows.height_px + AXIS_PX,
        [trace for line, row in zip(lines, rows.rows, strict=True) for trace in _marks(line, row)],
        x={"range": [0, greatest * 1.05], "tickformat": ".0%", "nticks": 6, "rangemode": "tozero"},
        y=rows.axis(),
        annotations=rows.notes,
    )


def _many(operation: str) -> str:
    return {"flush": "flushes"}.get(operation, f"{operation}s")


def _words(line: IoLine) -> str:
    of_size = "" if line.size_share is None else f", {percent(line.size_share)} of the size"
    return f"{percent(line.share)}{of_size}"


def _marks(line: IoLine, row: Row) -> list[Json]:
    ends = [(line.share, TAKEN)] + ([] if line.size_share is None else [(line.size_share, HELD)])
    return [
        {
            "type": "scatter", "mode": "lines", "hoverinfo": "skip",
            "x": [value for value, _ in ends], "y": [row.middle_px] * len(ends),
            "line": {"color": GREY, "width": 2},
        },
        {
            "type": "scatter",
            "mode": "markers",
            "name": literal(line.name),
            "x": [value for value, _ in ends],
            "y": [row.middle_px] * len(ends),
            "marker": {
                "color": [mark.colour for _, mark in ends],
                "symbol": [mark.symbol for _, mark in ends],
                "size": 9,
                "line": {"width": 2},
            },
            "text": [f"<b>{literal(line.name)}</b><br>{literal(_words(line))}"] * len(ends),
            "hovertemplate": "%{text}<extra></extra>",
            "cliponaxis": False,
        },
    ]  # fmt: skip


def _size(bytes_held: int | None, unit: Unit) -> Cell:
    return Cell("" if bytes_held is None else unit.text(bytes_held))


def _share(value: float | None) -> Cell:
    return Cell("" if value is None else percent(value))


def _table(by: str, lines: Sequence[IoLine]) -> Table:
    shown = sorted(lines, key=lambda line: (line.operation, -line.share, line.name))[:MOST_TABLE_ROWS]
    mean = byte_unit(line.request_bytes_mean or 0.0 for line in shown)
    sizes = [line.size_bytes for line in shown if line.size_bytes is not None]
    times = [line.ns for line in shown if line.ns is not None]
    volume, size, time = byte_unit(line.bytes or 0 for line in shown), byte_unit(sizes), time_unit(times)
    columns = [
        Column(by, figures=False),
        Column("requests"),
        Column("bytes", volume.name),
        Column("mean request", mean.name),
        Column("share"),
        *([Column("size", size.name), Column("share of the size")] if sizes else []),
        *([Column("time", time.name)] if times else []),
    ]

    def row(line: IoLine) -> list[Cell]:
        return [
            Cell(line.name),
            Cell(whole(line.requests)),
            Cell("" if line.bytes is None else volume.text(line.bytes)),
            Cell("" if line.request_bytes_mean is None else mean.text(line.request_bytes_mean)),
            Cell(percent(line.share)),
            *([_size(line.size_bytes, size), _share(line.size_share)] if sizes else []),
            *([Cell("" if line.ns is None else time.text(line.ns))] if times else []),
        ]

    sections = [
        Section(_many(operation), [row(line) for line in held])
        for operation, held in itertools.groupby(shown, key=lambda line: line.operation)
    ]
    return Table(f"io-{by.replace(' ', '-')}", columns, sections)
