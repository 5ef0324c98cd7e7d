"""What cells run on: a file on a real device, or a device of known truth that a test has programmed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from dbdyno import engine
from dbdyno.calibration.cells import Cell, Flushes, Planned
from dbdyno.probes.device import device_work, read_device_counts

Document = dict[str, Any]
GoOn = Callable[[], bool]


class Storage(Protocol):
    """Runs what is planned."""

    @property
    def engine_name(self) -> str:
        """`io_uring`, `threads`, `null` or `programmed`."""
        ...

    def fill(self, bytes_: int, seed: int, go_on: GoOn) -> int:
        """Pages that are all different, flushed; returns how many bytes."""
        ...

    def verify(self, offsets: Sequence[int], seed: int) -> int:
        """How many of these pages hold what `fill` wrote."""
        ...

    def run(self, planned: Planned, go_on: GoOn) -> Document:
        """The entry of the record: what was planned, what came of it, what the kernel counted meanwhile."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class FileStorage:
    """A file on a device whose counters are read around each cell, where the kernel shows them."""

    bench: engine.StorageBench
    block_device: Path | None

    @classmethod
    def open(cls, path: Path, block_device: Path | None, *, direct: bool, write: bool, engine_name: str) -> FileStorage:
        """Opens the file; `engine_name` is auto, io_uring, threads or null."""
        file = {"path": str(path), "direct": direct, "write": write, "engine": engine_name}
        return cls(engine.StorageBench({"file": file}), block_device)

    @property
    def engine_name(self) -> str:
        """What cells go by."""
        return self.bench.engine

    def fill(self, bytes_: int, seed: int, go_on: GoOn) -> int:
        """Of the file's first bytes."""
        return self.bench.fill(bytes_, seed, go_on)

    def verify(self, offsets: Sequence[int], seed: int) -> int:
        """Of pages that `fill` wrote."""
        return self.bench.verify(offsets, seed)

    def run(self, planned: Planned, go_on: GoOn) -> Document:
        """A cell, or flushes."""
        warm_up(self.bench, planned, go_on)
        before = None if self.block_device is None else read_device_counts(self.block_device)
        outcome = outcome_of(self.bench, planned, go_on)
        after = None if self.block_device is None else read_device_counts(self.block_device)
        kernel = None
        if self.block_device is not None and before is not None and after is not None:
            kernel = device_work(self.block_device, before, after)
        return entry(planned, outcome, kernel)


@dataclasses.dataclass(frozen=True, slots=True)
class ProgrammedStorage:
    """A device of known truth."""

    bench: engine.StorageBench

    @classmethod
    def of(cls, law: Mapping[str, Any]) -> ProgrammedStorage:
        """The device that obeys this law."""
        return cls(engine.StorageBench({"programmed": dict(law)}))

    @property
    def engine_name(self) -> str:
        """What cells go by."""
        return self.bench.engine

    def fill(self, bytes_: int, seed: int, go_on: GoOn) -> int:
        """Nothing to do."""
        return self.bench.fill(bytes_, seed, go_on)

    def verify(self, offsets: Sequence[int], seed: int) -> int:
        """All are right."""
        return self.bench.verify(offsets, seed)

    def run(self, planned: Planned, go_on: GoOn) -> Document:
        """A cell, or flushes."""
        warm_up(self.bench, planned, go_on)
        return entry(planned, outcome_of(self.bench, planned, go_on), None)


def warm_up(bench: engine.StorageBench, planned: Planned, go_on: GoOn) -> None:
    """What comes before a cell and is not written down."""
    if planned.warm is not None:
        bench.run(planned.warm.document(), go_on)


def outcome_of(bench: engine.StorageBench, planned: Planned, go_on: GoOn) -> Document:
    """What the engine says."""
    match planned.work:
        case Cell() as cell:
            return bench.run(cell.document(), go_on)
        case Flushes() as flushes:
            return bench.flush(flushes.document())


def entry(planned: Planned, outcome: Document, kernel: Mapping[str, Any] | None) -> Document:
    """One entry of the record."""
    return {
        "phase": planned.phase,
        "block": planned.block,
        "level": dict(planned.level),
        "work": planned.work.document(),
        "outcome": outcome,
        "kernel": None if kernel is None else dict(kernel),
    }
