"""The tables of the page that belong to no chart: arms, the instrument, the background, the machine."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from dbdyno.analysis.findings import Background, Estimate, Findings, Units
from dbdyno.report.html.arrangement import Arrangement, Placed
from dbdyno.report.html.names import metric_name
from dbdyno.report.html.quantity import Unit, byte_unit, time_unit, whole
from dbdyno.report.html.table import Cell, Column, Section, Table
from dbdyno.report.numbers import percent

Definitions = list[tuple[str, str]]


VERSION_NAMES = {"version": "dbdyno", "build_profile": "build profile", "server": "server"}


def unit_of_work(arrangement: Arrangement) -> Table:
    """What one unit of work costs in each arm; elapsed time and percentiles only where there are such."""
    arms = [one.arm for one in arrangement.placed()]
    elapsed = [arm.elapsed_ns.estimate for arm in arms if arm.elapsed_ns is not None]
    percentiles = not arms or any(arm.has_percentiles for arm in arms)
    units = _Units(
        means=time_unit(arm.response_time_ns.mean.estimate for arm in arms),
        tails=time_unit(arm.response_time_ns.p99.estimate for arm in arms) if percentiles else None,
        elapsed=time_unit(elapsed) if elapsed else None,
        bytes=Unit("MB/s", 1e6) if any(arm.bytes_per_s for arm in arms) else None,
    )
    sections = [
        Section(group.name, [_unit_of_work_row(one, units) for one in group.placed]) for group in arrangement.groups
    ]
    return Table("arms", _unit_of_work_columns(units), sections)


@dataclasses.dataclass(frozen=True, slots=True)
class _Units:
    """The units of the columns of times; None where there is no such column."""

    means: Unit
    tails: Unit | None
    elapsed: Unit | None
    bytes: Unit | None


def _unit_of_work_columns(units: _Units) -> list[Column]:
    means, tails = units.means, units.tails
    return [
        Column("arm", figures=False),
        *([Column("elapsed", units.elapsed.name)] if units.elapsed else []),
        Column("throughput", "per s"),
        *([Column("bytes", units.bytes.name)] if units.bytes else []),
        Column("response mean", means.name),
        *([Column(f"response {name}", tails.name) for name in ("p50", "p95", "p99")] if tails else []),
        Column("CPU", means.name),
        Column("run queue", means.name),
        Column("waits", means.name),
        Column("unac\u00adcounted", means.name),
        Column("units of work"),
    ]


def _unit_of_work_row(one: Placed, units: _Units) -> list[Cell]:
    arm, profile, times = one.arm, one.arm.profile_ns, one.arm.response_time_ns
    means, tails = units.means, units.tails
    percentiles = (times.p50, times.p95, times.p99) if tails else ()
    return [
        Cell(one.label),
        *([_estimate(arm.elapsed_ns, units.elapsed) if arm.elapsed_ns else Cell("")] if units.elapsed else []),
        _estimate(arm.throughput_per_s, Unit("per s", 1)),
        *([_estimate(arm.bytes_per_s, units.bytes) if arm.bytes_per_s else Cell("")] if units.bytes else []),
        _estimate(times.mean, means),
        *(Cell(tails.text(percentile.estimate) if arm.has_percentiles else "") for percentile in percentiles if tails),
        _time(profile.cpu, means),
        _time(profile.run_queue, means),
        _time(sum(profile.waits.values()), means),
        _time(profile.unaccounted, means),
        Cell(whole(arm.units.successful), _trouble(arm.units)),
    ]


def _trouble(units: Units) -> str:
    """What became of units that did not simply succeed; empty where all did."""
    counts = {"failed": units.failed, "skipped": units.skipped, "retried": units.retried, "late": units.late}
    return ", ".join(f"{whole(count)} {kind}" for kind, count in counts.items() if count)


def definitions(arrangement: Arrangement) -> Table:
    """What each arm is: its clients, its scripts and what it sets."""
    columns = [
        Column("arm", figures=False),
        Column("clients"),
        Column("scripts", figures=False),
        Column("sets", figures=False),
    ]
    sections = [Section(group.name, [_definition_row(one) for one in group.placed]) for group in arrangement.groups]
    return Table("definitions", columns, sections)


def _definition_row(one: Placed) -> list[Cell]:
    return [
        Cell(one.label),
        Cell(whole(one.arm.clients)),
        Cell(", ".join(one.arm.scripts)),
        Cell(", ".join(f"{name} = {value}" for name, value in one.arm.sets.items()) or "nothing"),
    ]


def instrument(arrangement: Arrangement) -> Table:
    """What dbdyno itself cost, and how punctual it was."""
    drivers = [one.arm.driver for one in arrangement.placed()]
    cost = time_unit(driver.cpu_ns_per_unit for driver in drivers)
    lateness = time_unit(driver.lateness_ns_max for driver in drivers)
    columns = [
        Column("arm", figures=False),
        Column("driver's CPU for one unit", cost.name),
        Column("driver", "of one CPU"),
        Column("busiest thread", "of one CPU"),
        Column("sampler", "of one CPU"),
        Column("lateness p50", lateness.name),
        Column("lateness p99", lateness.name),
        Column("lateness max", lateness.name),
        Column("Little's law off by"),
        Column("waits read by", figures=False),
    ]
    sections = [
        Section(group.name, [_instrument_row(one, cost, lateness) for one in group.placed])
        for group in arrangement.groups
    ]
    return Table("instrument", columns, sections)


def _instrument_row(one: Placed, cost: Unit, lateness: Unit) -> list[Cell]:
    driver = one.arm.driver
    return [
        Cell(one.label),
        Cell(cost.text(driver.cpu_ns_per_unit)),
        Cell(percent(driver.cpu_share)),
        Cell(percent(driver.busiest_thread_share)),
        Cell(percent(driver.sampler_cpu_share)),
        *(
            Cell(lateness.text(value))
            for value in (driver.lateness_ns_p50, driver.lateness_ns_p99, driver.lateness_ns_max)
        ),
        Cell(percent(one.arm.little_discrepancy)),
        Cell(one.arm.profile_route),
    ]


def background(arrangement: Arrangement) -> Table | None:
    """Server processes that serve no client: their CPU and where they slept; None where none was seen."""
    columns = [
        Column("process", figures=False),
        Column("CPU"),
        Column("run queue"),
        Column("longest waits, share of its time", figures=False),
    ]
    sections = [
        Section(one.arm.arm, [_background_row(process) for process in one.arm.background])
        for one in arrangement.placed()
        if one.arm.background
    ]
    return Table("background", columns, sections) if sections else None


def _background_row(process: Background) -> list[Cell]:
    longest = sorted(process.wait_shares.items(), key=lambda pair: -pair[1])[:3]
    return [
        Cell(process.backend_type),
        Cell(percent(process.cpu_share)),
        Cell(percent(process.run_queue_share)),
        Cell(", ".join(f"{event} {percent(share)}" for event, share in longest)),
    ]


def provenance(findings: Findings) -> Definitions:
    """Which run this is and what made it."""
    own = [
        ("experiment", findings.experiment),
        ("run", findings.run_id),
        ("started", started(findings)),
        ("seed", str(findings.seed)),
        ("blocks", f"{findings.blocks_complete} complete of {findings.blocks}"),
        ("metric", metric_name(findings.metric)),
        ("margin", percent(findings.margin)),
    ]
    return own + [(VERSION_NAMES.get(name, name), version) for name, version in findings.versions.items()]


def machine(findings: Findings) -> Definitions:
    """The machine and its servers, one line for each figure; the others have places of their own."""
    elsewhere = ("warnings", "servers", "instrument", "fingerprint")
    shown = {key: value for key, value in findings.machine.items() if key not in elsewhere}
    others = findings.machine.get("servers", [])[1:]
    leaves = _leaves({**shown, **{f"server {place}": server for place, server in enumerate(others, 1)}}, "")
    return [*leaves, *_fingerprint(findings.machine.get("fingerprint") or {})]


_FINGERPRINT = {
    "cpu_ns_per_kib": "hashing a KiB, at best",
    "memory_ns_per_kib": "copying a KiB of memory, at best",
    "flush_time_ns_p50": "a flush, in the median",
}


def _fingerprint(taken: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """How fast the machine was, beside earlier runs on it."""
    for figure, words in _FINGERPRINT.items():
        if figure in taken:
            usual = taken["usual"].get(figure)
            before = (
                f" (median of {usual['earlier']} runs before: {time_unit([usual['median']]).named(usual['median'])})"
                if usual
                else ""
            )
            yield words, f"{time_unit([taken[figure]]).named(taken[figure])}{before}"


def settings(findings: Findings) -> Definitions:
    """The server's settings under their own names."""
    server = findings.machine.get("server") or {}
    return [(name, str(value)) for name, value in (server.get("settings") or {}).items()]


def started(findings: Findings) -> str:
    """When the run began, to the minute."""
    return f"{datetime.fromisoformat(findings.started_at).astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _leaves(value: Mapping[str, Any], prefix: str) -> Iterable[tuple[str, str]]:
    for key, inner in value.items():
        name = f"{prefix} {key}".strip().replace("_", " ")
        if isinstance(inner, Mapping):
            if key != "settings":
                yield from _leaves(inner, name)
        elif inner is not None:
            yield _leaf(name, inner)


def _leaf(name: str, value: Any) -> tuple[str, str]:
    """A key that names its unit gives it up to the value."""
    words = name.split()
    if isinstance(value, bool):
        return name, "yes" if value else "no"
    if isinstance(value, int | float):
        for suffix, unit in (("ns", time_unit([value])), ("bytes", byte_unit([value]))):
            if suffix in words:
                return " ".join(word for word in words if word != suffix), unit.named(value)
    return name, ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _estimate(value: Estimate, unit: Unit) -> Cell:
    if value.low is None or value.high is None:
        return Cell(unit.text(value.estimate))
    return Cell(unit.text(value.estimate), f"{unit.text(value.low)} to {unit.text(value.high)}")


def _time(value: float | None, unit: Unit) -> Cell:
    return Cell("unknown" if value is None else unit.text(value))
