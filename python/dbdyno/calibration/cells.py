"""One load for one window, as the engine takes it (docs/architecture.md)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

SERIES_STEP_NS = 100_000_000
FLUSH_NS = 1_000_000
DATA, LOG, GROWING = "data", "log", "growing"


@dataclasses.dataclass(frozen=True, slots=True)
class Cell:
    """A load. `per_s` makes it an open loop of which at most `depth` are in flight; `most_ios` ends a closed one."""

    depth: int
    io_bytes: int
    span_bytes: int
    settle_ns: int
    window_ns: int
    seed: int
    first_byte: int = 0
    per_s: float | None = None
    most_ios: int | None = None
    write_share: float = 0.0
    sequential: bool = False
    look_for_zeros: bool = False
    flush_every_ns: int = 0

    def document(self) -> dict[str, Any]:
        """The engine's spec."""
        load: dict[str, Any] = {"kind": "closed", "depth": self.depth, "most_ios": self.most_ios}
        if self.per_s is not None:
            load = {"kind": "open", "per_s": self.per_s, "depth": self.depth}
        return {
            "load": load,
            "write_share": self.write_share,
            "order": "sequential" if self.sequential else "random",
            "io_bytes": self.io_bytes,
            "first_byte": self.first_byte,
            "span_bytes": self.span_bytes,
            "settle_ns": self.settle_ns,
            "window_ns": self.window_ns,
            "series_step_ns": min(SERIES_STEP_NS, self.window_ns),
            "seed": self.seed,
            "look_for_zeros": self.look_for_zeros,
            "flush_every_ns": self.flush_every_ns,
        }


@dataclasses.dataclass(frozen=True, slots=True)
class Flushes:
    """Commits in a row by one method."""

    method: str
    writers: int
    commits: int
    io_bytes: int
    span_bytes: int
    first_byte: int = 0
    slowed_per_mille: int = 0

    def document(self) -> dict[str, Any]:
        """The engine's spec."""
        return dataclasses.asdict(self)


@dataclasses.dataclass(frozen=True, slots=True)
class Planned:
    """A cell or flushes in its place in the schedule: which phase, which block, and what it stands for there.

    `file` is the one that it runs on: data, log, or a log that grows.
    """

    phase: str
    block: int
    level: Mapping[str, Any]
    work: Cell | Flushes
    # Run before it and not written down.
    warm: Cell | None = None
    file: str = DATA

    @property
    def expected_ns(self) -> int:
        """How long it takes; of flushes, at a flush time that most devices reach."""
        if isinstance(self.work, Cell):
            return self.work.settle_ns + self.work.window_ns
        # Of several writers each waits for the flush that is under way and for its own.
        return self.work.commits * FLUSH_NS * min(self.work.writers, 2)
