"""Requests in figures: a table for each way of parting them, a section for each operation."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from dbdyno.analysis.server_profile.findings import IoLine, ServerProfile
from dbdyno.report.html.quantity import Unit, byte_unit, middle_byte_unit, middle_time_unit, whole
from dbdyno.report.html.server_profile import looks
from dbdyno.report.html.table import Cell, Column, Section, Table

# In the order in which one reads them: what reaches a device first.
OPERATIONS = ("read", "write", "extend", "flush", "hit")
MANY = {"flush": "flushes", "hit": "hits (found in the server’s buffers)"}
# Of each operation; the document has all.
MOST_ROWS = 12


def tables(profile: ServerProfile) -> list[tuple[str, Table]]:
    """Every way of parting the requests, in the order of the findings."""
    return [
        (by, _table(by, [line for line in profile.io if line.by == by]))
        for by in dict.fromkeys(line.by for line in profile.io)
    ]


def many(operation: str) -> str:
    """The operation in the plural."""
    return MANY.get(operation, f"{operation}s")


@dataclasses.dataclass(frozen=True, slots=True)
class _Units:
    """The unit of each column; None where no line has such a figure, hence no column."""

    volume: Unit | None
    mean: Unit | None
    size: Unit | None
    time: Unit | None


def _table(by: str, lines: Sequence[IoLine]) -> Table:
    sizes = [line.size_bytes for line in lines if line.size_bytes is not None]
    means = [line.request_bytes_mean for line in lines if line.request_bytes_mean is not None]
    volumes = [line.bytes for line in lines if line.bytes is not None]
    times = [line.ns for line in lines if line.ns is not None]
    units = _Units(
        middle_byte_unit(volumes) if volumes else None,
        middle_byte_unit(means) if means else None,
        byte_unit(sizes) if sizes else None,
        middle_time_unit(times) if times else None,
    )
    found = dict.fromkeys([*OPERATIONS, *(line.operation for line in lines)])
    sections = [
        Section(many(operation), [_row(line, units) for line in held])
        for operation in found
        if (held := _greatest([line for line in lines if line.operation == operation]))
    ]
    return Table(f"io-{by.replace(' ', '-')}", _columns(by, units), sections)


def _greatest(lines: Sequence[IoLine]) -> list[IoLine]:
    return sorted(lines, key=lambda line: (-line.share, line.name))[:MOST_ROWS]


def _columns(by: str, units: _Units) -> list[Column]:
    columns = [Column(by, figures=False), Column("requests")]
    if units.volume:
        columns.append(Column("bytes", units.volume.name))
    if units.mean:
        columns.append(Column("mean request", units.mean.name))
    columns.append(Column("share"))
    if units.size:
        columns += [Column("size", units.size.name), Column("share of the size")]
    if units.time:
        columns.append(Column("time", units.time.name))
    return columns


def _row(line: IoLine, units: _Units) -> list[Cell]:
    cells = [Cell(line.name), Cell(whole(line.requests))]
    if units.volume:
        cells.append(_figure(line.bytes, units.volume))
    if units.mean:
        cells.append(_figure(line.request_bytes_mean, units.mean))
    cells.append(Cell(looks.share(line.share)))
    if units.size:
        cells += [_figure(line.size_bytes, units.size), _share(line.size_share)]
    if units.time:
        cells.append(_figure(line.ns, units.time))
    return cells


def _figure(value: float | None, unit: Unit) -> Cell:
    return Cell("" if value is None else unit.text(value))


def _share(value: float | None) -> Cell:
    return Cell("" if value is None else looks.share(value))
