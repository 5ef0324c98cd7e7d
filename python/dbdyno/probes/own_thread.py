"""What the kernel keeps of the thread that asks: CPU time, run queue, and what it had the storage read.

All are exact there: a thread's clocks are up to date where it is running itself.
"""

from __future__ import annotations

import dataclasses
import os
import time
from pathlib import Path
from typing import Any

_SCHEDSTAT = Path("/proc/thread-self/schedstat")
_IO = Path("/proc/thread-self/io")


@dataclasses.dataclass(frozen=True, slots=True)
class OwnThread:
    """Since the thread began; what the kernel does not show is None."""

    cpu_ns: int
    run_queue_ns: int | None
    read_bytes: int | None

    @classmethod
    def now(cls) -> OwnThread:
        """Of the thread that calls."""
        return cls(time.thread_time_ns(), _run_queue_ns(), _read_bytes())

    def since(self, before: OwnThread) -> OwnThread:
        """What was used in between."""
        return OwnThread(
            self.cpu_ns - before.cpu_ns,
            _difference(self.run_queue_ns, before.run_queue_ns),
            _difference(self.read_bytes, before.read_bytes),
        )


class OwnClock:
    """The clocks of the thread that makes it, read with as little as possible between one and the next: 5 us."""

    def __init__(self) -> None:
        try:
            self._schedstat: int | None = os.open(_SCHEDSTAT, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self._schedstat = None

    def read(self) -> dict[str, Any]:
        """`elapsed_ns` of a clock that nobody sets, `cpu_ns` and `run_queue_ns`; the last is None where unknown."""
        schedstat = None if self._schedstat is None else os.pread(self._schedstat, 100, 0)
        return {
            "run_queue_ns": None if schedstat is None else int(schedstat.split()[1]),
            "cpu_ns": time.thread_time_ns(),
            "elapsed_ns": time.monotonic_ns(),
        }


def _difference(after: int | None, before: int | None) -> int | None:
    return None if after is None or before is None else after - before


def _run_queue_ns() -> int | None:
    """The second field: how long it stood in line for a CPU (Linux Documentation/scheduler/sched-stats.rst)."""
    try:
        return int(_SCHEDSTAT.read_text().split()[1])
    except (OSError, IndexError):
        return None


def _read_bytes() -> int | None:
    """What was fetched from the storage on its behalf, reading ahead included (proc_pid_io(5))."""
    try:
        lines = _IO.read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith("read_bytes:")), None)
