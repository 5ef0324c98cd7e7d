"""The same storage through a database: the device's figures and the server's side by side."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from rich.text import Text

from dbdyno.analysis.calibration.database.findings import Beside, Database
from dbdyno.analysis.calibration.findings import Calibration, Load
from dbdyno.analysis.findings import Estimate
from dbdyno.report import numbers
from dbdyno.report.calibration.database_words import limits, measured_words, reading_words, share, way
from dbdyno.report.calibration.latencies import estimates, intervals
from dbdyno.report.calibration.words import MEGABYTES_PER_S
from dbdyno.report.layout import Column, Row, paragraph, table
from dbdyno.report.sections.arms import title


def database(calibration: Calibration) -> list[Text]:
    """Lookups, scans and commits; nothing where no database was asked for."""
    found = calibration.database
    if found is None:
        return []
    lines = title("Through the database: 8 KiB reads by primary key, so many sessions")
    lines += paragraph(Text(measured_words(found)))
    lines += _reads(found)
    lines += [line for sentence in reading_words(found) for line in paragraph(Text(sentence, style="dim"))]
    lines += _scans(found)
    lines += _commits(found)
    for sentence in limits(found):
        lines += paragraph(Text(sentence), first="- ")
    return lines


def _reads(found: Database) -> list[Text]:
    """A row for each number of sessions of each arm; the device at the same depth in the same blocks."""
    if not found.reads:
        return []
    device = {load.depth: load for load in found.device}
    theirs = [device.get(one.sessions) for one in found.reads]
    unit = numbers.time_unit(median(one.latency.p50_ns.estimate for one in found.reads))
    columns = [
        *_pair("reads a second", [None if one is None else one.iops for one in theirs],
               [one.reads_per_s for one in found.reads], numbers.ONE),
        *_pair(f"p50, {unit.name}", [_p50(one) for one in theirs], [one.latency.p50_ns for one in found.reads], unit),
        *_pair(f"p99, {unit.name}", [_p99(one) for one in theirs], [one.latency.p99_ns for one in found.reads], unit),
        Column(("page", "cache, %"), tuple(share(one.page_cache_share) for one in found.reads)),
        *_against([one.beside for one in found.reads]),
    ]  # fmt: skip
    return table([Row(str(one.sessions), way(one.arm)) for one in found.reads], columns)


def _pair(over: str, device: Sequence[Estimate | None], server: Sequence[Estimate], unit: numbers.Unit) -> list[Column]:
    return [
        Column(("device",), _cells(device, unit), span=over),
        Column(("server",), _cells(server, unit), style="bold", span=over),
    ]


def _cells(figures: Sequence[Estimate | None], unit: numbers.Unit) -> tuple[str, ...]:
    return tuple(numbers.in_unit(None if one is None else one.estimate, unit) for one in figures)


def _p50(load: Load | None) -> Estimate | None:
    return None if load is None else load.latency.p50_ns


def _p99(load: Load | None) -> Estimate | None:
    return None if load is None else load.latency.p99_ns


def _against(every: Sequence[Beside | None]) -> list[Column]:
    """The ratio of the rates, and what a unit of work takes longer in the mean."""
    added = [None if one is None or one.added_ns is None else one.added_ns.estimate for one in every]
    return [
        Column(("ratio",), tuple(_ratio(one) for one in every), style="bold", span="to the device"),
        Column(("adds us",), tuple(numbers.in_unit(ns, numbers.MICROSECONDS) for ns in added), span="to the device"),
    ]


def _ratio(one: Beside | None) -> str:
    return numbers.NOTHING if one is None else numbers.ratio(one.ratio.estimate)


def _scans(found: Database) -> list[Text]:
    if not found.scans:
        return []
    rates = [one.bytes_per_s for one in found.scans]
    columns = [
        estimates("MB/s", rates, MEGABYTES_PER_S),
        intervals(rates, MEGABYTES_PER_S),
        Column(("page", "cache, %"), tuple(share(one.page_cache_share) for one in found.scans)),
        Column(("to the device",), tuple(_ratio(one.beside) for one in found.scans), style="bold"),
    ]
    lines = title("One sequential scan (device: 128 KiB in order, 8 at a time)")
    return [Text(), *lines, *table([Row(way(one.arm)) for one in found.scans], columns)]


def _commits(found: Database) -> list[Text]:
    every = found.commits
    if not every:
        return []
    unit = numbers.time_unit(median(one.latency.p50_ns.estimate for one in every))
    device_p50 = [None if one.device_p50_ns is None else Estimate(one.device_p50_ns, None, None) for one in every]
    columns = [
        *_pair("commits a second", [one.device_per_s for one in every], [one.commits_per_s for one in every],
               numbers.ONE),
        *_pair(f"p50, {unit.name}", device_p50, [one.latency.p50_ns for one in every], unit),
        Column(("p99,", unit.name), _cells([one.latency.p99_ns for one in every], unit)),
        Column(("WAL bytes", "a commit"), tuple(numbers.in_unit(one.wal_bytes_per_commit, numbers.ONE, 0)
                                                for one in every)),
        *_against([one.beside for one in every]),
    ]  # fmt: skip
    lines = title("Commits of one row each, and as many writers of the device itself")
    return [Text(), *lines, *table([Row(str(one.sessions)) for one in every], columns)]
