"""How the waits of each arm were seen, and what the kernel counted of its backends."""

from __future__ import annotations

from collections.abc import Iterable

from dbdyno.analysis.findings import Arm
from dbdyno.report.html.arrangement import Arrangement
from dbdyno.report.html.quantity import Unit, number, time_unit, whole
from dbdyno.report.html.table import Cell, Column, Section, Table

UNKNOWN = ""


def sampling(arrangement: Arrangement) -> Table | None:
    """Snapshots, and switches per unit of work; None where no arm has any snapshot."""
    arms = [one.arm for one in arrangement.placed()]
    if not any(arm.sampling.snapshots for arm in arms):
        return None
    period = time_unit(_known(arm.sampling.period_ns for arm in arms))
    delay = time_unit(_known(arm.switches.block_io_delay_ns_per_unit for arm in arms))
    stolen = time_unit(_known(arm.switches.stolen_cpu_ns_per_unit for arm in arms))
    columns = [
        Column("arm", figures=False),
        Column("between two snapshots", period.name),
        Column("snapshots"),
        Column("with a look at the state"),
        Column("voluntary switches", "a unit"),
        Column("involuntary switches", "a unit"),
        Column("block-I/O delay", f"{delay.name} a unit"),
        Column("CPU taken by the host", f"{stolen.name} a unit"),
    ]
    sections = [
        Section(group.name, [[Cell(one.label), *_row(one.arm, period, delay, stolen)] for one in group.placed])
        for group in arrangement.groups
    ]
    return Table("sampling", columns, sections)


def _row(arm: Arm, period: Unit, delay: Unit, stolen: Unit) -> list[Cell]:
    seen, switches = arm.sampling, arm.switches
    return [
        Cell(UNKNOWN if seen.period_ns is None else period.text(seen.period_ns)),
        Cell(whole(seen.snapshots)),
        Cell(UNKNOWN if seen.looked is None else whole(seen.looked)),
        _number(switches.voluntary_per_unit),
        _number(switches.involuntary_per_unit),
        _time(switches.block_io_delay_ns_per_unit, delay),
        _time(switches.stolen_cpu_ns_per_unit, stolen),
    ]


def _time(ns: float | None, unit: Unit) -> Cell:
    return Cell(UNKNOWN if ns is None else unit.text(ns))


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _number(value: float | None) -> Cell:
    return Cell(UNKNOWN if value is None else number(value))
