"""Requests by what they were for: a relation's share of the requests or bytes, beside its share of the size."""

from __future__ import annotations

from collections.abc import Sequence

from dbdyno.analysis.server_profile.findings import IoLine, ServerProfile
from dbdyno.report.html import palette
from dbdyno.report.html.chart import GREY, Chart, Json, Key, Panel, literal, panel
from dbdyno.report.html.palette import Mark
from dbdyno.report.html.rows import Row, lay_out
from dbdyno.report.html.server_profile.io_tables import many
from dbdyno.report.numbers import percent

BAND_PX, AXIS_PX = 16, 42
# Lines with less than this share of their operation are left to the table.
LEAST_SHARE = 0.01
MOST_ROWS = 10
# Files say what relations say, mostly: they have a table.
DRAWN = ("relation", "tablespace")

TAKEN, HELD = Mark(palette.BETTER, "circle"), Mark(palette.NEUTRAL, "square-open")


def chart(profile: ServerProfile) -> Chart | None:
    """A panel for each operation, by relation and by tablespace; None where there are no two to compare."""
    groups = _groups([line for line in profile.io if line.size_share is not None and line.by in DRAWN])
    panels = [_panel(by, operation, lines) for (by, operation), lines in groups if len(lines) > 1]
    if not panels:
        return None
    return Chart(
        id="io",
        short="I/O",
        heading="Which data the requests were for",
        caption="Share of what was read or written (of the bytes, where the server tells them) and of the size.",
        reading=(
            "Each row is a relation or a tablespace. A filled circle far to the right of its square is a hot "
            "spot: little data that takes much of the I/O. From the server’s own counters between the beginning and "
            "the end of the profile; what its buffers or the kernel’s cache served is not device I/O."
        ),
        panels=panels,
        keys=[Key("share of the I/O", TAKEN), Key("share of the size", HELD)],
        columns=2,
    )  # fmt: skip


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
        f"{many(operation)} by {by}",
        f"{many(operation)} by {by}: " + "; ".join(f"{line.name} {_words(line)}" for line in lines) + ".",
        rows.height_px + AXIS_PX,
        [trace for line, row in zip(lines, rows.rows, strict=True) for trace in _marks(line, row)],
        x={"range": [0, greatest * 1.05], "tickformat": ".0%", "nticks": 6, "rangemode": "tozero"},
        y=rows.axis(),
        annotations=rows.notes,
    )


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
