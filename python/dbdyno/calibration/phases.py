"""The cells of each phase: blocks in which every level stands once, in random order.

Levels that are compared with one another must meet the same states of the machine, hence the blocks; and no level may
always follow the same other one, hence the order.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator, Sequence
from typing import Any

from dbdyno.calibration.budget import FLUSH_METHODS, LARGE_BYTES, MIB, MS, PAGE_BYTES, Budget, S
from dbdyno.calibration.cells import GROWING, LOG, Cell, Flushes, Planned

# The smallest span of the cache map, and how many times larger each next one is.
SMALLEST_SPAN_BYTES = MIB
SPAN_FACTOR = 4
# What a write-ahead log's segment has, over and over again.
SEGMENT_BYTES = 16 * MIB
WARMING_BYTES, LONGEST_WARMING_NS = MIB // 4, 5 * S
# One read each 40 ms: as rare as in a server with little to do, long enough for an idle state of CPU or device.
RESTED_PER_S = 25.0
# Of a mixed load that the device cannot keep up with, all that comes is in flight up to here.
MOST_MIXED_IN_FLIGHT, LEAST_PER_S = 256, 1.0
# A checkpoint syncs file after file; each of these stands for one of them.
CHECKPOINT_FLUSH_EVERY_NS = 50 * MS
# For the burst: deep enough for any single device, shallow enough to keep its own queues out of the picture.
BURST_DEPTH = 32


def idle(budget: Budget, file_bytes: int, seed: int) -> Iterator[Planned]:
    """One small random read at a time, on a device that has nothing else to do: at once, and after a rest."""
    for block, phase in _blocks(("idle", "rested"), budget.idle_blocks, seed):
        cell = dataclasses.replace(_reads(budget, file_bytes, seed + block, depth=1), look_for_zeros=phase == "idle")
        if phase == "rested":
            cell = dataclasses.replace(cell, depth=4, per_s=RESTED_PER_S, window_ns=budget.rested_window_ns)
        yield Planned(phase, block, {"depth": 1}, cell)


def cache_map(budget: Budget, file_bytes: int, seed: int) -> Iterator[Planned]:
    """One read at a time over spans of growing size: what fits into a cache is faster than what does not."""
    spans = spans_of(file_bytes)
    for block, span in _blocks(spans, budget.cache_blocks, seed):
        work = Cell(
            depth=1,
            io_bytes=PAGE_BYTES,
            span_bytes=span,
            settle_ns=budget.settle_ns,
            window_ns=budget.cache_window_ns,
            seed=seed + block * len(spans) + spans.index(span),
        )
        warm = _through(span, work.seed) if span <= budget.warmed_bytes else None
        yield Planned("cache_map", block, {"span_bytes": span}, work, warm)


def sweep(budget: Budget, file_bytes: int, seed: int) -> Iterator[Planned]:
    """Small random reads, so many at a time."""
    for block, depth in _blocks(budget.depths, budget.sweep_blocks, seed):
        work = _reads(budget, file_bytes, seed * 1000 + block * 1000 + depth, depth=depth)
        yield Planned("sweep", block, {"depth": depth}, work)


def sizes(budget: Budget, file_bytes: int, seed: int) -> Iterator[Planned]:
    """Reads of each size, one after another and at random, by few and by several at a time."""
    levels = [
        {"io_bytes": size, "depth": depth, "sequential": sequential}
        for size in budget.sizes
        for depth in budget.size_depths
        for sequential in (False, True)
    ]
    for block, level in _blocks(levels, budget.size_blocks, seed):
        work = Cell(
            depth=level["depth"],
            io_bytes=level["io_bytes"],
            span_bytes=file_bytes,
            settle_ns=budget.settle_ns,
            window_ns=budget.size_window_ns,
            seed=seed + block,
            sequential=bool(level["sequential"]),
        )
        yield Planned("sizes", block, level, work)


def burst(budget: Budget, file_bytes: int, seed: int) -> Iterator[Planned]:
    """All that the device gives, for long enough to empty what it has saved up."""
    if budget.burst_ns:
        work = Cell(
            depth=BURST_DEPTH,
            io_bytes=LARGE_BYTES // 4,
            span_bytes=file_bytes,
            settle_ns=0,
            window_ns=budget.burst_ns,
            seed=seed,
        )
        yield Planned("burst", 0, {"depth": BURST_DEPTH, "io_bytes": work.io_bytes}, work)


def flushes(budget: Budget, seed: int) -> Iterator[Planned]:
    """One writer's commits, by each method: some in a row, then those of another; and in a file that grows."""
    for block, method in _blocks((*FLUSH_METHODS, GROWING), budget.flush_blocks, seed):
        if method == GROWING:
            work = dataclasses.replace(
                _commits(budget, "fdatasync", writers=1),
                first_byte=block * budget.commits_per_block * PAGE_BYTES,
                span_bytes=budget.commits_per_block * PAGE_BYTES,
            )
            yield Planned("flush_growing", block, {"method": work.method}, work, file=GROWING)
        else:
            yield Planned("flush", block, {"method": method}, _commits(budget, method, writers=1), file=LOG)


def group_commit(budget: Budget, seed: int) -> Iterator[Planned]:
    """Several writers, one of which flushes for all."""
    for block, writers in _blocks(budget.writers, budget.group_blocks, seed):
        yield Planned("group_commit", block, {"writers": writers}, _commits(budget, "fdatasync", writers), file=LOG)


def mixed(budget: Budget, file_bytes: int, knee_per_s: float, seed: int) -> Iterator[Planned]:
    """Reads that come as they come, and writes beside them with the flushes of a checkpoint."""
    levels = [(reads, writes) for reads in budget.read_shares for writes in budget.write_shares]
    for block, (read_share, write_share) in _blocks(levels, budget.mixed_blocks, seed):
        work = Cell(
            depth=MOST_MIXED_IN_FLIGHT,
            io_bytes=PAGE_BYTES,
            span_bytes=file_bytes,
            settle_ns=budget.settle_ns,
            window_ns=budget.window_ns,
            seed=seed + block,
            per_s=max(knee_per_s * (read_share + write_share), LEAST_PER_S),
            write_share=write_share / (read_share + write_share),
            flush_every_ns=CHECKPOINT_FLUSH_EVERY_NS if write_share else 0,
        )
        yield Planned("mixed", block, {"read_share": read_share, "write_share": write_share}, work)


def spans_of(file_bytes: int) -> list[int]:
    """The spans of the cache map; the last is the whole file."""
    spans = []
    span = SMALLEST_SPAN_BYTES
    while span < file_bytes:
        spans.append(span)
        span *= SPAN_FACTOR
    return [*spans, file_bytes]


def _through(span: int, seed: int) -> Cell:
    """Once from end to end: what fits into a cache is in it then."""
    return Cell(
        depth=4,
        io_bytes=WARMING_BYTES,
        span_bytes=span,
        settle_ns=0,
        window_ns=LONGEST_WARMING_NS,
        seed=seed,
        sequential=True,
        most_ios=-(-span // WARMING_BYTES),
    )


def _reads(budget: Budget, file_bytes: int, seed: int, depth: int) -> Cell:
    return Cell(
        depth=depth,
        io_bytes=PAGE_BYTES,
        span_bytes=file_bytes,
        settle_ns=budget.settle_ns,
        window_ns=budget.window_ns,
        seed=seed,
    )


def _commits(budget: Budget, method: str, writers: int) -> Flushes:
    return Flushes(
        method=method,
        writers=writers,
        commits=budget.commits_per_block,
        io_bytes=PAGE_BYTES,
        span_bytes=SEGMENT_BYTES,
    )


def _blocks(levels: Sequence[Any], blocks: int, seed: int) -> Iterator[tuple[int, Any]]:
    """(block, level): every level once a block, in an order that the seed decides."""
    order = random.Random(seed)
    for block in range(blocks):
        for level in order.sample(levels, len(levels)):
            yield block, level
