"""Lookups of single pages by sessions, beside as many reads at a time of the device itself.

A lookup's response time runs from the client's request to its answer; a read of the device from its submission to its
bytes. What the server adds is the difference of the means: its CPU, the way to the client and back, and, where there
are more sessions than CPUs, the queue for a CPU. Both stand in the same blocks, so what moved a block moves both.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dbdyno.analysis.calibration.block_bootstrap import BlockBootstrap
from dbdyno.analysis.calibration.database.cells import (
    DEVICE,
    NS_PER_S,
    Levels,
    ServerBlocks,
    correlation_of,
    levels,
    same_blocks,
    share_from_cache,
    signed,
)
from dbdyno.analysis.calibration.database.findings import Beside, Reads
from dbdyno.analysis.calibration.entries import Blocks, latency
from dbdyno.analysis.calibration.findings import HeatMap, Load
from dbdyno.analysis.calibration.loading import load_of
from dbdyno.analysis.documents import Document

KIND = "reads"


def device_loads(cells: Sequence[Document], seed: int) -> tuple[Load, ...]:
    """The device's own reads in these blocks."""
    found = {depth: Blocks(entries) for depth, entries in levels(cells, KIND, DEVICE).items()}
    correlation = correlation_of(found.values())
    every = (load_of(depth, blocks, correlation, seed) for depth, blocks in found.items())
    return tuple(load for load in every if load is not None)


def reads(cells: Sequence[Document], arm: str, counted_by: str | None, seed: int) -> tuple[Reads, ...]:
    """Each number of sessions of one arm."""
    found, device = levels(cells, KIND, arm), levels(cells, KIND, DEVICE)
    correlation = correlation_of(ServerBlocks(entries) for entries in found.values())
    every = (_reads(arm, sessions, found, device, counted_by, correlation, seed) for sessions in found)
    return tuple(one for one in every if one is not None)


def _reads(
    arm: str, sessions: int, found: Levels, device: Levels, counted_by: str | None, correlation: float, seed: int
) -> Reads | None:
    blocks = ServerBlocks(found[sessions])
    bootstrap = BlockBootstrap.of(len(blocks.entries), correlation, seed)
    times = latency(blocks, bootstrap)
    if times is None:
        return None
    lookups_per_s = bootstrap.totals(blocks.ios) / bootstrap.totals(blocks.window_ns) * NS_PER_S
    per_lookup = bootstrap.totals(blocks.page_reads) / bootstrap.totals(blocks.units_in_all)
    outcomes = [cell["outcome"] for cell in blocks.entries]
    return Reads(
        arm=arm,
        sessions=sessions,
        blocks=len(blocks.entries),
        lookups_per_s=bootstrap.estimate(lookups_per_s),
        reads_per_s=bootstrap.estimate(lookups_per_s * per_lookup),
        reads_per_lookup=float(per_lookup[0]),
        page_cache_share=share_from_cache(blocks, counted_by, correlation, seed),
        latency=times,
        server_cpu_ns=_server_cpu_ns(outcomes),
        driver_cpu_ns=sum(outcome["driver"]["cpu_ns"] for outcome in outcomes) / times.ios,
        beside=beside(found[sessions], device.get(sessions, ()), correlation, seed),
    )


def _server_cpu_ns(outcomes: Sequence[Document]) -> float | None:
    """Failed units are in the server's clocks, too; None where these cannot be read."""
    parts = [outcome["profile"]["cpu_ns"] for outcome in outcomes]
    if any(part is None for part in parts):
        return None
    units = sum(outcome["units"]["successful"] + outcome["units"]["failed"] for outcome in outcomes)
    return float(sum(parts) / units)


def beside(server: Sequence[Document], device: Sequence[Document], correlation: float, seed: int) -> Beside | None:
    """The server's pages a second and its mean against the device's, in the blocks in which both stand."""
    of_server, of_device = same_blocks(server, device)
    mine, theirs = ServerBlocks(of_server), Blocks(of_device)
    if not of_server or not theirs.ios.all() or not mine.page_reads.all():
        return None
    bootstrap = BlockBootstrap.of(len(of_server), correlation, seed)
    pages = bootstrap.totals(mine.ios) * bootstrap.totals(mine.page_reads) / bootstrap.totals(mine.units_in_all)
    mine_per_s = pages / bootstrap.totals(mine.window_ns)
    theirs_per_s = bootstrap.totals(theirs.ios) / bootstrap.totals(theirs.window_ns)
    mine_ns, theirs_ns = (
        bootstrap.totals(each.response_time_sum_ns) / bootstrap.totals(each.ios) for each in (mine, theirs)
    )
    return Beside(bootstrap.estimate(mine_per_s / theirs_per_s), signed(mine_ns - theirs_ns, bootstrap))


def heat_maps(cells: Sequence[Document], arms: Sequence[str]) -> tuple[HeatMap, ...]:
    """Response times by sessions: a map for each arm, and the device's own."""
    maps = []
    for arm in (DEVICE, *arms):
        found = levels(cells, KIND, arm)
        if found:
            each = [(Blocks(one) if arm == DEVICE else ServerBlocks(one)).counts.sum(axis=0) for one in found.values()]
            counts = np.stack(each)
            columns, places = np.nonzero(counts)
            rows = zip(columns.tolist(), places.tolist(), counts[columns, places].tolist(), strict=True)
            over = "reads at a time" if arm == DEVICE else "sessions"
            maps.append(HeatMap(arm, tuple(map(str, found)), tuple(rows), over=over))
    return tuple(maps)
