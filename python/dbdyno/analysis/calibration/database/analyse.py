"""From the record's `database` to its findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dbdyno.analysis.calibration.database.cells import counted_by
from dbdyno.analysis.calibration.database.findings import Database, LeftOut, Reads
from dbdyno.analysis.calibration.database.orders import commits, scans
from dbdyno.analysis.calibration.database.reads import device_loads, heat_maps, reads
from dbdyno.analysis.calibration.findings import Verdict
from dbdyno.analysis.documents import Document

# A share of the page cache that is worth a sentence.
NOTED_SHARE = 0.05


def analyse(record: Document | None, seed: int) -> Database | None:
    """All findings; None where no database was asked for."""
    if record is None:
        return None
    cells: Sequence[Document] = record["cells"]
    arms, by = tuple(record.get("arms", ())), counted_by(cells)
    return Database(
        target=record["target"],
        version=record.get("version", ""),
        settings=dict(record.get("settings", {})),
        table_bytes=record["table_bytes"],
        blocks=len({cell["block"] for cell in cells}),
        arms=arms,
        left_out=tuple(LeftOut(one["arm"], one["reason"]) for one in record.get("left_out", ())),
        device=device_loads(cells, seed),
        reads=tuple(one for arm in arms for one in reads(cells, arm, by, seed)),
        scans=scans(cells, arms, by, seed),
        commits=commits(cells, arms, seed),
        heat_maps=heat_maps(cells, arms),
        reads_counted_by=by,
        failed=record["failed"],
        warnings=tuple(record.get("warnings", ())),
    )


def verdicts(database: Database | None) -> Iterator[Verdict]:
    """What is worth the first screen: one read through the server, many of them, and who really answered."""
    if database is None:
        return
    for arm in database.arms:
        levels = [one for one in database.reads if one.arm == arm and one.beside is not None]
        if levels:
            yield Verdict("through_database", _sentence(arm, levels))
    cached = [one for one in database.reads if one.page_cache_share and one.page_cache_share.estimate >= NOTED_SHARE]
    if cached:
        most = max(cached, key=lambda one: one.page_cache_share.estimate if one.page_cache_share else 0.0)
        assert most.page_cache_share is not None
        yield Verdict(
            "page_cache_reads",
            f"{most.page_cache_share.estimate:.0%} of the server's reads at {most.sessions} sessions ({most.arm}) came "
            "from the page cache of the host, not from the storage: its own counters cannot tell them apart.",
        )


def _sentence(arm: str, levels: Sequence[Reads]) -> str:
    one, most = levels[0], max(levels, key=lambda level: level.reads_per_s.estimate)
    assert one.beside is not None
    assert most.beside is not None
    added = ""
    if one.beside.added_ns is not None:
        added = f", {one.beside.added_ns.estimate / 1e3:+.0f} us against the device"
    return (
        f"Through the database ({arm}) a read of {one.sessions} session takes {one.latency.mean_ns.estimate / 1e3:.0f} "
        f"us{added}; {most.sessions} sessions read most, {most.reads_per_s.estimate:,.0f} pages a second, "
        f"{most.beside.ratio.estimate:.2f} times what the device does at that depth."
    )
