"""Phase after phase, into the record.

The order is that of what the later ones must know: what the engine itself costs, what the device does with nothing
else to do, what is a cache, what it does when it is asked for all it has, how it answers to load, and what a flush
takes. The burst comes before the other loads, while a throttled device still has what it has saved up: they would
use it up unseen, and some of their cells would be of a burst and others of what is sustained.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterable, Sequence
from typing import Protocol

from dbdyno.calibration import phases
from dbdyno.calibration.budget import PAGE_BYTES, Budget
from dbdyno.calibration.cells import Cell, Planned
from dbdyno.calibration.storage import Document, GoOn, Storage

# Of the read-back after the file was filled.
VERIFIED_PAGES = 256


class Foreground(Protocol):
    """Who watches."""

    def begin(self, what: str, left_ns: int) -> None:
        """This is next, and so much is left."""
        ...

    def go_on(self) -> bool:
        """Whether to."""
        ...


def measure(
    data: Storage,
    log: Storage | None,
    budget: Budget,
    file_bytes: int,
    seed: int,
    foreground: Foreground,
) -> list[Document]:
    """All entries. `log` is where commits go; None: nothing is written."""
    entries: list[Document] = []
    reading = [
        *phases.idle(budget, file_bytes, seed),
        *phases.cache_map(budget, file_bytes, seed + 1),
        *phases.burst(budget, file_bytes, seed + 4),
        *phases.sweep(budget, file_bytes, seed + 2),
        *phases.sizes(budget, file_bytes, seed + 3),
    ]
    writing = [] if log is None else [*phases.flushes(budget, seed + 5), *phases.group_commit(budget, seed + 6)]
    left = _Left(sum(one.expected_ns for one in (*reading, *writing)))
    _run(data, reading, entries, foreground, left)
    if log is not None:
        _run(log, writing, entries, foreground, left)
    return entries


@dataclasses.dataclass(slots=True)
class _Left:
    ns: int


def _run(
    storage: Storage, planned: Iterable[Planned], entries: list[Document], foreground: Foreground, left: _Left
) -> None:
    """Run what is planned, in its order, as long as the foreground wants it."""
    for one in planned:
        if not foreground.go_on():
            return
        foreground.begin(one.phase, left.ns)
        entries.append(storage.run(one, foreground.go_on))
        left.ns -= one.expected_ns


def own_cost(null: Storage, depths: Sequence[int], go_on: GoOn) -> list[Document]:
    """What the engine itself takes for an I/O: the same loop on storage that does nothing."""
    return [
        null.run(
            Planned(
                "own_cost",
                0,
                {"depth": depth},
                Cell(
                    depth=depth,
                    io_bytes=PAGE_BYTES,
                    span_bytes=1 << 30,
                    settle_ns=0,
                    window_ns=50_000_000,
                    seed=depth,
                ),
            ),
            go_on,
        )
        for depth in depths
    ]


def verified_offsets(file_bytes: int, seed: int) -> list[int]:
    """The pages of the read-back, all over the file."""
    pages = file_bytes // 4096
    return [page * 4096 for page in random.Random(seed).sample(range(pages), min(VERIFIED_PAGES, pages))]
