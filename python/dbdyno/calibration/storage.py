"""What cells run on: a file on a real device, or a device of known truth that a test has programmed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dbdyno import engine
from dbdyno.calibration.cells import Cell, Flushes, Planned
from dbdyno.probes.device import device_work, read_device_counts

Document = dict[str, Any]
GoOn = Callable[[], bool]


@dataclasses.dataclass(frozen=True, slots=True)
class Storage:
    """Runs what is planned; the counters of the device, where the kernel shows them, are read around each cell."""

    bench: engine.StorageBench
    block_device: Path | None = None
    # Of a file that somebody else filled: pages of it may never have been written.
    look_for_zeros: bool = False

    @classmethod
    def of_file(cls, path: Path, block_device: Path | None, *, direct: bool, write: bool, engine_name: str) -> Storage:
        """Opens a file; `engine_name` is auto, io_uring, threads or null. Others' files are searched for zeros."""
        file = {"path": str(path), "direct": direct, "write": write, "engine": engine_name}
        return cls(
            engine.StorageBench({"file": file}), block_device, look_for_zeros=not write and engine_name != "null"
        )

    @classmethod
    def programmed(cls, law: Mapping[str, Any]) -> Storage:
        """The device that obeys this law."""
        return cls(engine.StorageBench({"programmed": dict(law)}))

    @property
    def engine_name(self) -> str:
        """`io_uring`, `threads`, `null` or `programmed`."""
        return self.bench.engine

    def fill(self, bytes_: int, seed: int, go_on: GoOn) -> int:
        """Pages that are all different in the first bytes, flushed; returns how many bytes."""
        return self.bench.fill(bytes_, seed, go_on)

    def verify(self, offsets: Sequence[int], seed: int) -> int:
        """How many of these pages hold what `fill` wrote."""
        return self.bench.verify(offsets, seed)

    def run(self, planned: Planned, go_on: GoOn) -> Document:
        """The entry of the record: what was planned, what came of it, what the kernel counted meanwhile."""
        warmed_bytes = 0
        if planned.warm is not None:
            warmed_bytes = self.bench.run(planned.warm.document(), go_on)["reads_in_all"] * planned.warm.io_bytes
        before = None if self.block_device is None else read_device_counts(self.block_device)
        outcome = self._outcome(planned, go_on)
        after = None if self.block_device is None else read_device_counts(self.block_device)
        kernel = None
        if self.block_device is not None and before is not None and after is not None:
            kernel = device_work(self.block_device, before, after)
        read_bytes, written_bytes = _moved(planned.work, outcome)
        return {
            "phase": planned.phase,
            "block": planned.block,
            "level": dict(planned.level),
            "work": planned.work.document(),
            "outcome": outcome,
            "kernel": kernel,
            "read_bytes": warmed_bytes + read_bytes,
            "written_bytes": written_bytes,
        }

    def _outcome(self, planned: Planned, go_on: GoOn) -> Document:
        match planned.work:
            case Cell() as cell:
                return self.bench.run(
                    cell.document() | {"look_for_zeros": cell.look_for_zeros or self.look_for_zeros}, go_on
                )
            case Flushes() as flushes:
                return self.bench.flush(flushes.document())


def _moved(work: Cell | Flushes, outcome: Document) -> tuple[int, int]:
    """Bytes read and written, within the window and beside it."""
    match work:
        case Cell(io_bytes=each):
            return outcome["reads_in_all"] * each, outcome["writes_in_all"] * each
        case Flushes(io_bytes=each):
            return 0, len(outcome["times_ns"]) * each
