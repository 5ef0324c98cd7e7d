"""What needs no picture: the idle device, CALIBRATE_IO's figures, the checks, and how all was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dbdyno.analysis.calibration.findings import Calibration
from dbdyno.report.calibration.files import THIRDS, third_of
from dbdyno.report.calibration.latencies import figures_of
from dbdyno.report.calibration.words import calibrate_io_figures, modes_sentence, notes_of, patterns, when
from dbdyno.report.html.calibration.drawing import figure
from dbdyno.report.html.quantity import byte_unit, time_unit
from dbdyno.report.html.table import Cell, Column, Section, Table
from dbdyno.report.html.tables import Definitions
from dbdyno.report.numbers import exact_size


def idle_table(calibration: Calibration) -> Table | None:
    """One read at a time, on a device that has nothing else to do."""
    latency = calibration.idle
    if latency is None:
        return None
    named = figures_of(latency)
    unit = time_unit([latency.p50_ns.estimate])
    columns = [Column("reads", figures=False), *(Column(name, unit.name) for name in named)]
    row = [Cell(f"{latency.ios:,}"), *(figure(one, unit) for one in named.values())]
    return Table("idle", columns, [Section(None, [row])])


def modes_words(calibration: Calibration) -> list[tuple[str, str]]:
    """How many modes there are, and when the I/Os of each come."""
    found = calibration.modes
    if not found:
        return []
    single = [("Verdict", modes_sentence(calibration))]
    if len(found) == 1:
        return single
    return single + [(named.capitalize(), f"{words}.") for named, words in patterns(calibration)]


def calibrate_io_table(calibration: Calibration) -> Table | None:
    """In its words, and beside each figure what it hides."""
    figures = calibrate_io_figures(calibration)
    if not figures:
        return None
    rows = [[Cell(name), Cell(text), Cell("; ".join(notes_of(calibration, name)))] for name, text in figures.items()]
    columns = [Column("figure", figures=False), Column("value", figures=False), Column("what it hides", figures=False)]
    return Table("calibrate-io", columns, [Section(None, rows)])


def files_table(calibration: Calibration) -> Table | None:
    """Files that were there, side by side."""
    shown = calibration.files
    if not shown:
        return None
    unit = time_unit([file.idle.p50_ns.estimate for file in shown if file.idle is not None] or [1e5])
    rows = [
        [
            Cell(file.path),
            Cell(exact_size(file.bytes_)),
            figure(file.idle.p50_ns, unit) if file.idle else Cell("-"),
            figure(file.idle.p99_ns, unit) if file.idle else Cell("-"),
            Cell("-" if file.iops is None else f"{file.iops.estimate:,.0f}"),
            Cell(f"{file.zero_share:.1%}"),
            *(Cell(third_of(file, place)) for place in range(len(THIRDS))),
        ]
        for file in shown
    ]
    columns = [
        Column("file", figures=False),
        Column("size", figures=False),
        Column("p50", unit.name),
        Column("p99", unit.name),
        Column(f"IOPS at {max(file.depth for file in shown)}"),
        Column("zero pages", figures=False),
        *(Column(f"{name} third", "× the rest") for name in THIRDS),
    ]
    return Table("files", columns, [Section(None, rows)])


def checks_table(calibration: Calibration) -> Table | None:
    """Those that do not hold first."""
    if not calibration.checks:
        return None
    every = sorted(calibration.checks, key=lambda check: check.holds)
    rows = [[Cell(check.name), Cell("holds" if check.holds else "does not hold"), Cell(check.seen)] for check in every]
    columns = [Column("check", figures=False), Column("verdict", figures=False), Column("seen", figures=False)]
    return Table("checks", columns, [Section(None, rows)])


def measured(calibration: Calibration) -> Definitions:
    """What a reader needs in order to trust the figures or not: the budget, the machine, the device."""
    return list(_measured(calibration))


def _measured(calibration: Calibration) -> Iterator[tuple[str, str]]:
    yield "measured at", when(calibration)
    yield "budget", calibration.budget
    yield "engine", calibration.engine
    if calibration.engine_ns_per_io is not None:
        yield "engine’s own part of an I/O", _time(calibration.engine_ns_per_io)
    yield "size of the file", exact_size(calibration.file_bytes)
    yield "read", _size(calibration.bytes_read)
    yield "written", _size(calibration.bytes_written)
    yield from _flat(calibration.inventory)


def _flat(inventory: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """The kernel's own words, a name each; what it does not say is left out."""
    for name, value in inventory.items():
        words = f"{before}{name}".replace("_", " ").replace("cpu", "CPU")
        if isinstance(value, Mapping):
            yield from _flat(value, f"{name}: ")
        elif isinstance(value, bool):
            yield words, "yes" if value else "no"
        elif value is not None and name.endswith("_bytes") and isinstance(value, int):
            yield words.removesuffix(" bytes"), _size(value)
        elif value is not None:
            yield words, str(value)


def _time(ns: float) -> str:
    return time_unit([ns]).named(ns)


def _size(bytes_: float) -> str:
    return byte_unit([bytes_]).named(bytes_)
