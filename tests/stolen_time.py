"""What the host of this virtual machine took from it meanwhile: to be read beside any time that was measured."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

# proc_stat(5): the line of all CPUs is "cpu user nice system idle iowait irq softirq steal ..." in ticks of 10 ms.
_STEAL = 8


class StolenTime:
    """Ticks (10 ms of one CPU) that the host took while the block ran, in `ticks` when it is over."""

    ticks = 0

    def __enter__(self) -> Self:
        self._before = _stolen_ticks()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.ticks = _stolen_ticks() - self._before


def _stolen_ticks() -> int:
    return int(Path("/proc/stat").read_text().partition("\n")[0].split()[_STEAL])
