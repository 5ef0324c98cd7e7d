"""The evidence as tables: checks, the server's counters, requests, the host's CPUs, the reset, the server's log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dbdyno.analysis.findings import Arm, Check, Device, Findings, Requests, ResetStep
from dbdyno.report import numbers
from dbdyno.report.disturbance_words import disturbances
from dbdyno.report.html.arrangement import Arrangement
from dbdyno.report.html.quantity import Unit, byte_unit, number, time_unit, whole
from dbdyno.report.html.table import Cell, Column, Section, Table

# Where a check has the same result in more arms than this, their number says enough.
MOST_NAMED = 3


def checks(arrangement: Arrangement) -> Table | None:
    """What arms had to show, and what they showed instead; arms with the same result share a row, failures first."""
    alike: dict[tuple[str, str, str], list[tuple[Arm, Check]]] = {}
    for arm, check in ((one.arm, check) for one in arrangement.placed() for check in one.arm.checks):
        result = "holds" if check.holds else f"failed: {check.seen}"
        alike.setdefault((check.check, check.expected, result), []).append((arm, check))
    if not alike:
        return None
    columns = [
        Column("check", figures=False),
        Column("expected", figures=False),
        Column("result", figures=False),
        Column("arms", figures=False),
        Column("trials"),
        Column("failed"),
    ]
    rows = [_checks_row(key, found) for key, found in sorted(alike.items(), key=lambda item: item[0][2] == "holds")]
    return Table("checks", columns, [Section(None, rows)])


def _checks_row(key: tuple[str, str, str], found: Sequence[tuple[Arm, Check]]) -> list[Cell]:
    names = ", ".join(arm.arm for arm, _ in found)
    return [
        *map(Cell, key),
        Cell(names if len(found) <= MOST_NAMED else f"{len(found)} arms"),
        Cell(whole(sum(check.trials for _, check in found))),
        Cell(whole(sum(check.failed_trials for _, check in found))),
    ]


def checks_summary(arrangement: Arrangement) -> str:
    """How many there are, and whether they hold."""
    every = [check for one in arrangement.placed() for check in one.arm.checks]
    failed = sum(not check.holds for check in every)
    return f"{failed} of {len(every)} checks failed" if failed else f"All {len(every)} checks hold"


def counters(arrangement: Arrangement) -> Table | None:
    """Every counter that counted something anywhere, per unit of work: a row a counter, a column an arm."""
    placed = [one for one in arrangement.placed() if one.arm.counters_per_unit]
    names = dict.fromkeys(name for one in placed for name in one.arm.counters_per_unit)
    shown = [name for name in names if any(one.arm.counters_per_unit.get(name) for one in placed)]
    rows = [_counter_row(name, [one.arm for one in placed]) for name in shown]
    if any(one.arm.hot_update_share is not None for one in placed):
        rows.append([Cell("HOT share of updates"), *(_share(one.arm.hot_update_share) for one in placed)])
    if not rows:
        return None
    columns = [Column("counter", figures=False), *(Column(one.arm.arm) for one in placed)]
    return Table("counters", columns, [Section(None, rows)])


def _counter_row(name: str, arms: Sequence[Arm]) -> list[Cell]:
    words, unit = name.replace("_", " ").replace("wal ", "WAL "), Unit("", 1.0)
    if name.endswith("_bytes"):
        unit = byte_unit(arm.counters_per_unit.get(name, 0.0) for arm in arms)
        words = f"{words.removesuffix(' bytes')}, {unit.name}"
    values = [arm.counters_per_unit.get(name) for arm in arms]
    return [Cell(words), *(Cell("" if value is None else unit.text(value)) for value in values)]


# A page is 8 of them, and a great request some thousands; one unit for all, whatever the largest is.
REQUEST_SIZE = Unit("KiB", 2.0**10)


def requests(arrangement: Arrangement) -> Table | None:
    """The server's reads beside what reached the device."""
    placed = [one for one in arrangement.placed() if one.arm.reads is not None or one.arm.device is not None]
    if not placed:
        return None
    kinds = {
        "server reads": [one.arm.reads.server if one.arm.reads else None for one in placed],
        "device reads": [one.arm.device.reads if one.arm.device else None for one in placed],
        "device writes": [one.arm.device.writes if one.arm.device else None for one in placed],
    }
    columns = [Column("arm", figures=False)]
    for kind in kinds:
        columns += [Column(kind), Column("mean size", REQUEST_SIZE.name)]
    columns += [Column("device flushes"), Column("physical reads")]
    rows = [
        [
            Cell(one.arm.arm),
            *(cell for found in kinds.values() for cell in _request_cells(found[place])),
            _flushes(one.arm.device),
            _physical(one.arm),
        ]
        for place, one in enumerate(placed)
    ]
    return Table("requests", columns, [Section(None, rows)])


def _request_cells(found: Requests | None) -> list[Cell]:
    if found is None:
        return [Cell(""), Cell("")]
    return [Cell(number(found.per_unit)), Cell("" if found.bytes_mean is None else REQUEST_SIZE.text(found.bytes_mean))]


def _flushes(device: Device | None) -> Cell:
    return Cell("" if device is None or device.flushes_per_unit is None else number(device.flushes_per_unit))


def _physical(arm: Arm) -> Cell:
    if arm.reads is None:
        return Cell("")
    return Cell(numbers.percent(arm.reads.physical_share), "" if arm.reads.device_known else "by the server's word")


def _share(value: float | None) -> Cell:
    return Cell("" if value is None else numbers.percent(value))


def host_cpu(arrangement: Arrangement) -> Table | None:
    """What the host's CPUs did during the trials."""
    columns = [Column("arm", figures=False), *(Column(part) for part in ("user", "system", "I/O wait", "steal"))]
    rows = [
        [Cell(one.arm.arm), *(_share(part) for part in (host.user, host.system, host.io_wait, host.steal))]
        for one in arrangement.placed()
        if (host := one.arm.host_cpu) is not None
    ]
    return Table("host-cpu", columns, [Section(None, rows)]) if rows else None


def reset(arrangement: Arrangement) -> Table | None:
    """What each step before a trial took, and what it reached."""
    placed = [one for one in arrangement.placed() if one.arm.reset]
    if not placed:
        return None
    unit = time_unit(step.ns for one in placed for step in one.arm.reset)
    columns = [Column("step", figures=False), Column("median", unit.name), Column("reached", figures=False)]
    sections = [Section(one.arm.arm, [_reset_row(step, unit) for step in one.arm.reset]) for one in placed]
    return Table("reset", columns, sections)


def _reset_row(step: ResetStep, unit: Unit) -> list[Cell]:
    reached = "; ".join(_reached(name, value) for name, value in step.reached.items())
    return [Cell(step.step), Cell(unit.text(step.ns)), Cell(reached)]


def _reached(name: str, value: Any) -> str:
    words = name.replace("_", " ")
    if isinstance(value, list):
        return f"{words}: {', '.join(map(str, value))}"
    if words.endswith("bytes") and isinstance(value, int | float):
        return f"{words.removesuffix('bytes').strip()} {numbers.size(value)}".strip()
    return f"{words}: {value}"


def disturbed(findings: Findings) -> Table | None:
    """What hit trials, from outside and from within: a row a kind."""
    columns = [
        Column("what", figures=False),
        Column("counts from"),
        Column("most"),
        Column("trials hit"),
        Column("their figure", figures=False),
        Column("which, by place in the run", figures=False),
    ]
    rows = [
        [
            Cell(one.what),
            Cell(one.limit),
            Cell(one.largest),
            Cell(whole(len(one.hit)), f"of {whole(one.trials)}"),
            Cell(one.effect),
            Cell(one.places),
        ]
        for one in disturbances(findings)
    ]
    return Table("disturbed", columns, [Section(None, rows)]) if rows else None


def server_log(arrangement: Arrangement) -> Table | None:
    """Each distinct line of the server's log, by arm."""
    rows = [[Cell(one.arm.arm), Cell(line)] for one in arrangement.placed() for line in one.arm.server_log]
    columns = [Column("arm", figures=False), Column("warning", figures=False)]
    return Table("server-log", columns, [Section(None, rows)]) if rows else None


def changes(arrangement: Arrangement) -> list[tuple[str, str, str]]:
    """Arm, what it does to the schema, and what takes it back."""
    return [(one.arm.arm, one.arm.sql, one.arm.undo or "") for one in arrangement.placed() if one.arm.sql is not None]
