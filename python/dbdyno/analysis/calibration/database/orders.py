"""Scans, which read in order, and commits, which flush: each beside the device itself in the same blocks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dbdyno.analysis.calibration.block_bootstrap import BlockBootstrap, lag_one
from dbdyno.analysis.calibration.database.cells import (
    DEVICE,
    NS_PER_S,
    PAGE_BYTES,
    ServerBlocks,
    correlation_of,
    levels,
    same_blocks,
    share_from_cache,
    signed,
)
from dbdyno.analysis.calibration.database.findings import Beside, Commits, Scan
from dbdyno.analysis.calibration.entries import Blocks, latency
from dbdyno.analysis.calibration.log_bins import Floats
from dbdyno.analysis.columns import Integers as Columns
from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Estimate

SCAN, COMMITS = "scan", "commits"


def scans(cells: Sequence[Document], arms: Sequence[str], counted_by: str | None, seed: int) -> tuple[Scan, ...]:
    """The device's own rate, and that of each arm."""
    device = levels(cells, SCAN, DEVICE).get(1, ())
    found = [_device_scan(device, seed)] if device else []
    for arm in arms:
        server = levels(cells, SCAN, arm).get(1, ())
        if server:
            found.append(_scan(arm, server, device, counted_by, seed))
    return tuple(found)


def _device_scan(device: tuple[Document, ...], seed: int) -> Scan:
    blocks = Blocks(device)
    bootstrap = BlockBootstrap.of(len(device), correlation_of([blocks]), seed)
    rate = bootstrap.totals(blocks.bytes_) / bootstrap.totals(blocks.window_ns) * NS_PER_S
    return Scan(DEVICE, bootstrap.estimate(rate), None, None)


def _scan(
    arm: str, server: tuple[Document, ...], device: tuple[Document, ...], counted_by: str | None, seed: int
) -> Scan:
    blocks = ServerBlocks(server)
    bytes_, elapsed_ns = _scanned_bytes(blocks), blocks.window_ns
    correlation = lag_one([np.log(np.maximum(bytes_, 1) / elapsed_ns)])
    bootstrap = BlockBootstrap.of(len(server), correlation, seed)
    rate = bootstrap.estimate(bootstrap.totals(bytes_) / bootstrap.totals(elapsed_ns) * NS_PER_S)
    share = share_from_cache(blocks, counted_by, correlation, seed)
    mine, theirs = same_blocks(server, device)
    if not mine:
        return Scan(arm, rate, share, None)
    one, other = ServerBlocks(mine), Blocks(theirs)
    bootstrap = BlockBootstrap.of(len(mine), correlation, seed)
    ratio = _rate(bootstrap, _scanned_bytes(one), one.window_ns) / _rate(bootstrap, other.bytes_, other.window_ns)
    return Scan(arm, rate, share, Beside(bootstrap.estimate(ratio), None))


def _scanned_bytes(blocks: ServerBlocks) -> Columns:
    """All pages that the scan looked at, wherever they were."""
    pages = [cell["pages"]["table_reads"] + cell["pages"]["table_hits"] for cell in blocks.entries]
    return np.array(pages, dtype=np.int64) * PAGE_BYTES


def commits(cells: Sequence[Document], arms: Sequence[str], seed: int) -> tuple[Commits, ...]:
    """Each number of sessions."""
    device = levels(cells, COMMITS, DEVICE)
    server = next((found for arm in arms if (found := levels(cells, COMMITS, arm))), {})
    correlation = correlation_of(ServerBlocks(entries) for entries in server.values())
    every = (_commits(sessions, server[sessions], device.get(sessions, ()), correlation, seed) for sessions in server)
    return tuple(one for one in every if one is not None)


def _commits(
    sessions: int, server: tuple[Document, ...], device: tuple[Document, ...], correlation: float, seed: int
) -> Commits | None:
    blocks = ServerBlocks(server)
    bootstrap = BlockBootstrap.of(len(server), correlation, seed)
    times = latency(blocks, bootstrap)
    if times is None:
        return None
    in_all = int(blocks.units_in_all.sum())
    wal_bytes = sum(cell["server"].get("wal_bytes", 0) for cell in server)
    mine, theirs = same_blocks(server, device)
    device_per_s, device_p50_ns, compared = _device_commits(mine, theirs, correlation, seed)
    return Commits(
        sessions=sessions,
        commits_per_s=bootstrap.estimate(_rate(bootstrap, blocks.ios, blocks.window_ns) * NS_PER_S),
        latency=times,
        wal_bytes_per_commit=wal_bytes / in_all,
        device_per_s=device_per_s,
        device_p50_ns=device_p50_ns,
        beside=compared,
    )


def _device_commits(
    server: tuple[Document, ...], device: tuple[Document, ...], correlation: float, seed: int
) -> tuple[Estimate | None, float | None, Beside | None]:
    """Its commits a second, their median, and the server against them."""
    if not device:
        return None, None, None
    outcomes = [cell["outcome"] for cell in device]
    commits_, sums_ns, elapsed_ns = (
        np.array(figures, dtype=np.int64)
        for figures in (
            [len(outcome["times_ns"]) for outcome in outcomes],
            [sum(outcome["times_ns"]) for outcome in outcomes],
            [outcome["elapsed_ns"] for outcome in outcomes],
        )
    )
    bootstrap, mine = BlockBootstrap.of(len(device), correlation, seed), ServerBlocks(server)
    theirs_per_s = _rate(bootstrap, commits_, elapsed_ns)
    mine_per_s = _rate(bootstrap, mine.ios, mine.window_ns)
    theirs_ns = bootstrap.totals(sums_ns) / bootstrap.totals(commits_)
    mine_ns = bootstrap.totals(mine.response_time_sum_ns) / bootstrap.totals(mine.ios)
    compared = Beside(bootstrap.estimate(mine_per_s / theirs_per_s), signed(mine_ns - theirs_ns, bootstrap))
    median_ns = float(np.median(np.concatenate([outcome["times_ns"] for outcome in outcomes])))
    return bootstrap.estimate(theirs_per_s * NS_PER_S), median_ns, compared


def _rate(bootstrap: BlockBootstrap, amounts: Columns, elapsed_ns: Columns) -> Floats:
    return bootstrap.totals(amounts) / bootstrap.totals(elapsed_ns)
