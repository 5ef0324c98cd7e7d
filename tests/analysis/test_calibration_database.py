"""What a calibration through a database concludes from made-up cells, to the last figure."""

from __future__ import annotations

from typing import Any

import hdr
import pytest

from dbdyno.analysis.calibration.database.analyse import analyse, verdicts
from dbdyno.analysis.calibration.database.findings import Beside, Database
from dbdyno.analysis.findings import Estimate

Document = dict[str, Any]
US, S = 1_000, 1_000_000_000
BLOCKS = 6
PAGE = 8192


def lookups(
    arm: str, block: int, sessions: int, *, us: int, pages: int, read_bytes: int | None, **more: Any
) -> Document:
    """A cell of 1,000 lookups that took so long each; as many again were in its warm-up."""
    return {
        "kind": "reads", "arm": arm, "block": block, "sessions": sessions, "cold": None,
        "outcome": {
            "units": {"successful": 1000, "failed": 0},
            "units_with_warm_up": 2000,
            "throughput_per_s": sessions * S / (us * US),
            "response_time": {"sum_ns": 1000 * us * US, "histogram": hdr.encode([us * US] * 1000)},
            "profile": {"cpu_ns": 1000 * 40 * US},
            "driver": {"cpu_ns": 1000 * 5 * US},
        },
        "server": {}, "storage_read_bytes": read_bytes, "kernel": {"read_bytes": 10 * PAGE * pages},
        "pages": {"table_reads": pages - 1, "table_hits": 7, "index_reads": 1, "index_hits": 3},
        **more,
    }  # fmt: skip


def of_device(kind: str, block: int, sessions: int, *, us: int, io_bytes: int = PAGE) -> Document:
    """A cell of 2,000 reads of the device itself, so many at a time."""
    window_ns = 2000 * us * US // sessions
    outcome = {
        "reads": 2000, "writes": 0, "reads_in_all": 2200, "writes_in_all": 0, "cpu_ns": 2200 * US,
        "window_ns": window_ns, "bytes": 2000 * io_bytes,
        "response_time": {"sum_ns": 2000 * us * US}, "heat": [[0, 250, 2000]],
    }  # fmt: skip
    return {
        "kind": kind, "arm": "device", "block": block, "sessions": sessions, "work": {"io_bytes": io_bytes},
        "outcome": outcome, "kernel": None,
    }  # fmt: skip


def record(cells: list[Document], **more: Any) -> Document:
    """The record's `database`."""
    return {
        "target": "embedded", "table_bytes": 1 << 29, "cells": cells, "failed": None, "version": "18.6",
        "settings": {"shared_buffers": "16MB"}, "arms": ["buffered", "direct"], "left_out": [], "warnings": [], **more,
    }  # fmt: skip


def analysed(cells: list[Document], **more: Any) -> Database:
    """Its findings."""
    found = analyse(record(cells, **more), seed=1)
    assert found is not None
    return found


def exactly(value: float) -> Estimate:
    """Equal blocks know a figure exactly."""
    return Estimate(pytest.approx(value), pytest.approx(value), pytest.approx(value))


@pytest.fixture
def cells() -> list[Document]:
    """Two sessions: 200 us through the page cache, 250 us past it, 100 us on the device; 31 % from the page cache."""
    return [
        cell
        for block in range(BLOCKS)
        for cell in (
            lookups("buffered", block, 2, us=200, pages=1900, read_bytes=1311 * PAGE),
            lookups("direct", block, 2, us=250, pages=1900, read_bytes=1900 * PAGE),
            of_device("reads", block, 2, us=100),
        )
    ]


def test_no_database_no_findings() -> None:
    """Records of before, and calibrations that did not ask for one."""
    assert analyse(None, seed=1) is None
    assert list(verdicts(None)) == []


def test_reads_stand_beside_the_device(cells: list[Document]) -> None:
    """Rates are of pages, 0.95 a lookup; the server's against the device's; what it adds is of the means."""
    found = analysed(cells)
    buffered, direct = found.reads
    [device] = found.device

    assert (found.blocks, found.reads_counted_by, device.depth) == (BLOCKS, "processes", 2)
    assert device.iops == exactly(20_000)
    assert (buffered.arm, buffered.sessions, buffered.blocks) == ("buffered", 2, BLOCKS)
    assert buffered.lookups_per_s == exactly(10_000)
    assert buffered.reads_per_lookup == 0.95
    assert buffered.reads_per_s == exactly(9_500)
    assert buffered.latency.mean_ns == exactly(200 * US)
    assert buffered.latency.p50_ns.estimate == pytest.approx(200 * US, rel=0.05)
    assert (buffered.server_cpu_ns, buffered.driver_cpu_ns) == (40 * US, 5 * US)
    assert buffered.beside == Beside(exactly(0.475), exactly(100 * US))
    assert direct.beside == Beside(exactly(0.38), exactly(150 * US))


def test_the_share_of_the_page_cache(cells: list[Document]) -> None:
    """What the server read and the storage was not asked for; the device's own counter has others' reads in it."""
    buffered, direct = analysed(cells).reads

    assert buffered.page_cache_share == exactly(0.31)
    assert direct.page_cache_share == exactly(0.0)
    assert [verdict.code for verdict in verdicts(analysed(cells))] == [
        "through_database",
        "through_database",
        "page_cache_reads",
    ]
    assert "31% of the server's reads at 2 sessions (buffered)" in list(verdicts(analysed(cells)))[-1].sentence


def test_read_ahead_is_below_zero() -> None:
    """Nothing is cut off at zero."""
    found = analysed(
        [lookups("buffered", block, 1, us=200, pages=1000, read_bytes=1100 * PAGE) for block in range(BLOCKS)]
    )

    assert found.reads[0].page_cache_share == exactly(-0.1)
    assert found.reads[0].beside is None


def test_the_device_counts_where_processes_are_not_seen() -> None:
    """Then others' reads are in, and the findings say who counted; where nobody did there is no share."""
    by_device = [lookups("buffered", block, 1, us=200, pages=1000, read_bytes=None) for block in range(BLOCKS)]
    by_nobody = [{**cell, "kernel": None} for cell in by_device]

    assert analysed(by_device).reads_counted_by == "device"
    assert analysed(by_device).reads[0].page_cache_share == exactly(-9.0)
    assert analysed(by_nobody).reads_counted_by is None
    assert analysed(by_nobody).reads[0].page_cache_share is None


def test_only_blocks_in_which_both_stand_are_compared(cells: list[Document]) -> None:
    """An interrupted calibration ends in the middle of a block: the odd cell moves no ratio."""
    slow = lookups("buffered", BLOCKS, 2, us=20_000, pages=1900, read_bytes=0)
    [buffered, _] = analysed([*cells, slow]).reads

    assert buffered.blocks == BLOCKS + 1
    assert buffered.beside == Beside(exactly(0.475), exactly(100 * US))


def test_scans_and_commits() -> None:
    """Bytes of all pages that the scan looked at; commits against as many writers of the device."""
    scan = {
        "units": {"successful": 1, "failed": 0}, "units_with_warm_up": 1, "throughput_per_s": 2.0,
        "response_time": {"sum_ns": S // 2, "histogram": hdr.encode([S // 2])},
    }  # fmt: skip
    commit = lookups("buffered", 0, 8, us=400, pages=1, read_bytes=0)["outcome"]
    flushed = {"times_ns": [100 * US] * 50, "elapsed_ns": 50 * 100 * US, "flushes": 50}
    cells = []
    for block in range(BLOCKS):
        pages = {"table_reads": 900, "table_hits": 100, "index_reads": 0, "index_hits": 0}
        of_server = {
            "server": {"wal_bytes": 2000 * 90},
            "pages": pages,
            "storage_read_bytes": 900 * PAGE,
            "kernel": None,
        }
        cells += [
            {"kind": "scan", "arm": "direct", "block": block, "sessions": 1, "outcome": scan, **of_server},
            of_device("scan", block, 1, us=100, io_bytes=2 * PAGE),
            {"kind": "commits", "arm": "buffered", "block": block, "sessions": 8, "outcome": commit, **of_server},
            {"kind": "commits", "arm": "device", "block": block, "sessions": 8, "outcome": flushed, "kernel": None},
        ]
    found = analysed(cells)
    device, direct = found.scans
    [commits] = found.commits

    assert (device.arm, device.bytes_per_s) == ("device", exactly(2 * PAGE * 10_000))
    assert (direct.arm, direct.bytes_per_s) == ("direct", exactly(2 * 1000 * PAGE))
    assert direct.page_cache_share == exactly(0.0)
    assert direct.beside == Beside(exactly(0.1), None)
    assert commits.commits_per_s == exactly(20_000)
    assert (commits.wal_bytes_per_commit, commits.device_p50_ns) == (90, 100 * US)
    assert commits.device_per_s == exactly(10_000)
    assert commits.beside == Beside(exactly(2.0), exactly(300 * US))


def test_heat_maps_by_sessions(cells: list[Document]) -> None:
    """One for the device and one for each way of reading; every lookup is in them."""
    maps = analysed(cells).heat_maps

    assert [(one.name, one.columns, one.over) for one in maps] == [
        ("device", ("2",), "reads at a time"),
        ("buffered", ("2",), "sessions"),
        ("direct", ("2",), "sessions"),
    ]
    assert [sum(count for _, _, count in one.cells) for one in maps] == [12_000, 6_000, 6_000]
    assert maps[1].cells == ((0, 265, 6_000),)


def test_a_failure_before_the_first_cell_is_told() -> None:
    """Nothing is known but why."""
    found = analyse({"target": "embedded", "table_bytes": 8192, "cells": [], "failed": "no server"}, seed=1)

    assert found is not None
    assert (found.failed, found.reads, found.blocks, found.reads_counted_by) == ("no server", (), 0, None)
