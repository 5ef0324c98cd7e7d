"""The storage through a database: heat maps by sessions, and the device's figures and the server's side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dbdyno.analysis.calibration.database.findings import Beside, Commits, Database, Reads, Scan
from dbdyno.analysis.calibration.findings import Calibration, Load
from dbdyno.analysis.findings import Estimate
from dbdyno.report.calibration.database_words import limits, measured_words, reading_words, share, way
from dbdyno.report.html import palette
from dbdyno.report.html.calibration.drawing import RATE, figure, interval
from dbdyno.report.html.calibration.heat_cells import panels
from dbdyno.report.html.calibration.heat_maps import by_decade
from dbdyno.report.html.chart import Chart, Key
from dbdyno.report.html.palette import Shade
from dbdyno.report.html.quantity import Unit, middle_time_unit, ratio_ends
from dbdyno.report.html.table import Cell, Column, Section, Table
from dbdyno.report.numbers import NOTHING, count, ratio

ONE, MICROSECONDS = Unit("", 1.0), Unit("µs", 1e3)


def chart(calibration: Calibration) -> Chart | None:
    """Two panels for the device and for each way of reading; None where no database was asked for."""
    found = calibration.database
    if found is None:
        return None
    return Chart(
        id="database",
        short="Through a database",
        heading="The same storage through a database",
        caption=(
            "Response times of single-page lookups by sessions, and of as many reads at a time of the device itself "
            "in the same blocks. Blue: how many; orange: the time that they took together."
        ),
        reading=(
            "Each pair is one way of reading. A band of the device that stands higher in a server's map is what the "
            "server adds: its CPU, the way to the client, and the queue for a CPU where there are more sessions than "
            "CPUs. A band below all bands of the device is a cache that answered in its place."
        ),
        panels=[one for each in found.heat_maps for one in panels(each)],
        keys=[
            Key("few to many", Shade(palette.FREQUENCY)),
            Key("little to much time", Shade(palette.INTENSITY)),
        ],
        columns=2,
        tables=[
            (f"{way(one.name)}: by length", by_decade(one, f"database-latencies-{place}"))
            for place, one in enumerate(found.heat_maps, 1)
        ],
        words=[("Measured", measured_words(found)), *(("Limits", sentence) for sentence in limits(found))],
    )


def tables(calibration: Calibration) -> list[tuple[Table, str]]:
    """Lookups, scans and commits, each with its caption."""
    found = calibration.database
    if found is None:
        return []
    every = [
        (_rates(found), " ".join(reading_words(found))),
        (_times(found), "Response times of the same lookups, and what the server adds to the device's mean."),
        (_scans(found.scans), "One process that reads in order; the device reads 128 KiB at a time, 8 of them."),
        (_commits(found.commits), "Commits of one row each, and as many writers of the device that each flush."),
    ]
    return [(table, caption) for table, caption in every if table is not None]


def _rates(found: Database) -> Table | None:
    def row(one: Reads, device: Load | None) -> list[Cell]:
        return [
            *(_known(None if device is None else device.iops, ONE), figure(one.reads_per_s, ONE)),
            *(_ratio(one.beside), _share(one.page_cache_share)),
        ]

    columns = [Column("device", "reads/s"), Column("server", "reads/s"), Column("server / device")]
    return _by_sessions(found, "database-reads", [*columns, Column("page cache", "%")], row)


def _times(found: Database) -> Table | None:
    unit = middle_time_unit([one.latency.p50_ns.estimate for one in found.reads])

    def row(one: Reads, device: Load | None) -> list[Cell]:
        p50_ns, p99_ns = (None, None) if device is None else (device.latency.p50_ns, device.latency.p99_ns)
        return [
            *(_known(p50_ns, unit), figure(one.latency.p50_ns, unit)),
            *(_known(p99_ns, unit), figure(one.latency.p99_ns, unit)),
            _added(one.beside),
        ]

    columns = [
        *(Column("device p50", unit.name), Column("server p50", unit.name)),
        *(Column("device p99", unit.name), Column("server p99", unit.name)),
        Column("adds", "µs"),
    ]
    return _by_sessions(found, "database-times", columns, row)


def _by_sessions(
    found: Database, id_: str, columns: Sequence[Column], row: Callable[[Reads, Load | None], list[Cell]]
) -> Table | None:
    """A section for each way of reading; beside each row the device at the same depth."""
    if not found.reads:
        return None
    device = {load.depth: load for load in found.device}
    sections = [
        Section(
            way(arm),
            [[Cell(str(one.sessions)), *row(one, device.get(one.sessions))] for one in found.reads if one.arm == arm],
        )
        for arm in found.arms
    ]
    return Table(id_, [Column("sessions", figures=False), *columns], sections)


def _scans(scans: Sequence[Scan]) -> Table | None:
    rows = [
        [Cell(way(one.arm)), figure(one.bytes_per_s, RATE), _share(one.page_cache_share), _ratio(one.beside)]
        for one in scans
    ]
    columns = [Column("scan", figures=False), Column("throughput", RATE.name), Column("page cache", "%")]
    return Table("database-scans", [*columns, Column("server / device")], [Section(None, rows)]) if rows else None


def _commits(every: Sequence[Commits]) -> Table | None:
    if not every:
        return None
    unit = middle_time_unit([one.latency.p50_ns.estimate for one in every])
    rows = [
        [
            Cell(count(one.sessions, "session")),
            *(_known(one.device_per_s, ONE), figure(one.commits_per_s, ONE)),
            Cell(NOTHING if one.device_p50_ns is None else unit.text(one.device_p50_ns)),
            *(figure(one.latency.p50_ns, unit), figure(one.latency.p99_ns, unit)),
            Cell(ONE.text(one.wal_bytes_per_commit)),
            *(_ratio(one.beside), _added(one.beside)),
        ]
        for one in every
    ]
    columns = [
        Column("commits", figures=False),
        *(Column("device", "commits/s"), Column("server", "commits/s")),
        *(Column("device p50", unit.name), Column("server p50", unit.name), Column("server p99", unit.name)),
        *(Column("WAL a commit", "B"), Column("server / device"), Column("adds", "µs")),
    ]
    return Table("database-commits", columns, [Section(None, rows)])


def _known(estimate: Estimate | None, unit: Unit) -> Cell:
    return Cell(NOTHING) if estimate is None else Cell(unit.text(estimate.estimate), interval(estimate, unit))


def _share(of_reads: Estimate | None) -> Cell:
    if of_reads is None or of_reads.low is None or of_reads.high is None:
        return Cell(_signed(of_reads))
    low, high = (_signed(Estimate(end, None, None)) for end in (of_reads.low, of_reads.high))
    return Cell(_signed(of_reads), f"{low} to {high}")


def _signed(of_reads: Estimate | None) -> str:
    """With a true minus sign, as all figures of a page have it."""
    return NOTHING if of_reads is None else share(of_reads).replace("-", "−")


def _added(beside: Beside | None) -> Cell:
    return _known(None if beside is None else beside.added_ns, MICROSECONDS)


def _ratio(beside: Beside | None) -> Cell:
    return Cell(NOTHING) if beside is None else Cell(ratio(beside.ratio.estimate), ratio_ends(beside.ratio))
