"""Phase after phase, into the record.

The order is that of what the later ones must know: what the device does with nothing else to do, what is a cache, what
it does when it is asked for all it has, how it answers to load, and how reads at a share of the knee fare beside
writes; the commits stand between the blocks of these.
The burst comes before the other loads, while a throttled device still has what it has saved up: they would use it up
unseen, and some of their cells would be of a burst and others of what is sustained. Random writes come last, since
some devices go on with their own work for a while after them.
"""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Mapping, Sequence
from typing import Protocol

from dbdyno.calibration import file_phases, phases
from dbdyno.calibration.budget import PAGE_BYTES, Budget
from dbdyno.calibration.cells import DATA, LOG, Cell, Planned
from dbdyno.calibration.running import Beside, Foreground, Measured, Run, blocks_of
from dbdyno.calibration.spending import Spending
from dbdyno.calibration.storage import Document, GoOn, Storage

# Of the read-back after the file was filled.
VERIFIED_PAGES = 256


class Judge(Protocol):
    """What must be concluded in order to go on."""

    def is_precise(self, entries: Sequence[Document]) -> bool:
        """Whether the sweep needs no more blocks."""
        ...

    def knee_per_s(self, entries: Sequence[Document]) -> float | None:
        """The throughput at the knee; None where there is none."""
        ...


def measure(
    files: Mapping[str, Storage],
    budget: Budget,
    file_bytes: int,
    seed: int,
    judge: Judge,
    foreground: Foreground,
    spending: Spending | None = None,
) -> Measured:
    """All entries, or those before storage failed.

    Args:
        files: the storage of each file that a cell may name; without a log nothing is written.
        budget: what is spent.
        file_bytes: of the data.
        seed: of orders and places.
        judge: looks at what there is.
        foreground: is told what is next, and ends it.
        spending: the byte budget, if there is one.
    """
    plan = Plan.of(budget, file_bytes, seed, writes=LOG in files)
    run = Run(files, foreground, spending, plan.all)
    _on_the_device(run, plan, judge)
    return run.measured


def measure_files(
    files: Sequence[tuple[Storage, int]],
    budget: Budget,
    seed: int,
    judge: Judge,
    foreground: Foreground,
    spending: Spending,
) -> Measured:
    """All entries of files that are there, with their sizes: all side by side, then the largest one as a device."""
    largest, largest_bytes = max(files, key=lambda file: file[1])
    sizes = [bytes_ for _, bytes_ in files]
    beside = blocks_of(file_phases.files(budget, sizes, seed + 8))
    together = list(file_phases.together(budget, sizes, seed + 9))
    plan = Plan.of(budget, largest_bytes, seed, writes=False)
    named = {file_phases.name_of(place): storage for place, (storage, _) in enumerate(files)}
    every = [one for block in (*beside, *together) for one in block]
    run = Run({DATA: largest, **named}, foreground, spending, [*every, *plan.all])
    for block, alone in enumerate(beside):
        run.all_of(alone)
        run.at_once(together[block] if together else [])
    _on_the_device(run, plan, judge)
    return run.measured


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """The phases of one calibration. How long the mixed cells take does not depend on where the knee is."""

    budget: Budget
    file_bytes: int
    seed: int
    alone: Sequence[Planned]
    sweep: Sequence[Planned]
    sizes: Sequence[Planned]
    commits: Sequence[list[Planned]]
    mixed: Sequence[Planned]

    @classmethod
    def of(cls, budget: Budget, file_bytes: int, seed: int, *, writes: bool) -> Plan:
        """For a file of so many bytes."""
        return cls(
            budget=budget,
            file_bytes=file_bytes,
            seed=seed,
            alone=[
                *phases.idle(budget, file_bytes, seed),
                *phases.cache_map(budget, file_bytes, seed + 1),
                *phases.burst(budget, file_bytes, seed + 4),
            ],
            sweep=list(phases.sweep(budget, file_bytes, seed + 2)),
            sizes=list(phases.sizes(budget, file_bytes, seed + 3)),
            commits=_commits(budget, seed) if writes else [],
            mixed=list(phases.mixed(budget, file_bytes, 1.0, seed + 7)) if writes else [],
        )

    @property
    def all(self) -> list[Planned]:
        """Everything."""
        return [*self.alone, *self.sweep, *self.sizes, *self.mixed, *itertools.chain(*self.commits)]

    @property
    def expected_ns(self) -> int:
        """How long all takes."""
        return sum(one.expected_ns for one in self.all)


def _on_the_device(run: Run, plan: Plan, judge: Judge) -> None:
    run.all_of(plan.alone)
    run.beside = Beside(plan.commits, sum(len(blocks_of(phase)) for phase in (plan.sweep, plan.sizes, plan.mixed)))
    run.blocks(plan.sweep, plan.budget.least_sweep_blocks, lambda: judge.is_precise(run.entries))
    run.blocks(plan.sizes)
    if plan.mixed and (knee_per_s := judge.knee_per_s(run.entries)) is not None:
        run.blocks(list(phases.mixed(plan.budget, plan.file_bytes, knee_per_s, plan.seed + 7)))
    run.all_of(run.beside.rest())


def _commits(budget: Budget, seed: int) -> list[list[Planned]]:
    """The blocks of commits by one writer and by several, mixed evenly."""
    placed = [
        ((place + 0.5) / len(blocks), block)
        for blocks in (blocks_of(phases.flushes(budget, seed + 5)), blocks_of(phases.group_commit(budget, seed + 6)))
        for place, block in enumerate(blocks)
    ]
    return [block for _, block in sorted(placed, key=lambda one: one[0])]


def own_cost(null: Storage, depths: Sequence[int], go_on: GoOn) -> list[Document]:
    """What the engine itself takes for an I/O: the same loop on storage that does nothing."""
    return [null.run(Planned("own_cost", 0, {"depth": depth}, _nothing(depth)), go_on) for depth in depths]


def _nothing(depth: int) -> Cell:
    return Cell(depth=depth, io_bytes=PAGE_BYTES, span_bytes=1 << 30, settle_ns=0, window_ns=50_000_000, seed=depth)


def verified_offsets(file_bytes: int, seed: int) -> list[int]:
    """The pages of the read-back, all over the file."""
    pages = file_bytes // 4096
    return [page * 4096 for page in random.Random(seed).sample(range(pages), min(VERIFIED_PAGES, pages))]
