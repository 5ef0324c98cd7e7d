"""Cells on files that are there: each as a whole and by its thirds, so that a slow region shows.

Every cell of every file stands once in each block, in random order: files and thirds are compared within blocks, so
that what the device did meanwhile is not taken for a difference between them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from dbdyno.calibration.budget import PAGE_BYTES, Budget
from dbdyno.calibration.cells import Cell, Planned

THIRDS = 3
# Deep enough to ask several parts of a device at once, shallow enough for a disk with moving parts.
SEVERAL = 16
# Fewer could not name a slow third among several files (Holm); with 12 it can among 34.
LEAST_BLOCKS = 12


def files(budget: Budget, bytes_of_each: Sequence[int], seed: int) -> Iterator[Planned]:
    """One read at a time and several all over each file, and one at a time within each of its thirds."""
    order = random.Random(seed)
    levels = [
        (file, part, depth)
        for file in range(len(bytes_of_each))
        for part, depth in [(None, 1), (None, SEVERAL), *((third, 1) for third in range(THIRDS))]
    ]
    for block in range(max(LEAST_BLOCKS, budget.cache_blocks)):
        for number, (file, part, depth) in enumerate(order.sample(levels, len(levels))):
            first_byte, span_bytes = _region(bytes_of_each[file], part)
            work = Cell(
                depth=depth,
                io_bytes=PAGE_BYTES,
                first_byte=first_byte,
                span_bytes=span_bytes,
                settle_ns=budget.settle_ns,
                window_ns=budget.cache_window_ns,
                seed=seed + block * len(levels) + number,
            )
            yield Planned("files", block, {"file": file, "part": part, "depth": depth}, work, file=name_of(file))


def together(budget: Budget, bytes_of_each: Sequence[int], seed: int) -> Iterator[list[Planned]]:
    """Several reads at a time on all files at once, block by block; none of a single file."""
    if len(bytes_of_each) < 2:
        return
    for block in range(max(LEAST_BLOCKS, budget.cache_blocks)):
        yield [
            Planned(
                "together",
                block,
                {"file": file, "depth": SEVERAL},
                Cell(
                    depth=SEVERAL,
                    io_bytes=PAGE_BYTES,
                    span_bytes=bytes_,
                    settle_ns=budget.settle_ns,
                    window_ns=budget.cache_window_ns,
                    seed=seed + block * len(bytes_of_each) + file,
                ),
                file=name_of(file),
            )
            for file, bytes_ in enumerate(bytes_of_each)
        ]


def name_of(file: int) -> str:
    """As cells name the file in that place."""
    return f"file {file}"


def _region(bytes_: int, part: int | None) -> tuple[int, int]:
    """First byte and size, in whole pages."""
    if part is None:
        return 0, bytes_
    pages = bytes_ // PAGE_BYTES
    first, last = pages * part // THIRDS, pages * (part + 1) // THIRDS
    return first * PAGE_BYTES, (last - first) * PAGE_BYTES
