"""CPU time and disk I/O of a process and all its children, those among them that have ended included.

When a parent collects a child that ended, the kernel adds what the child used to the parent's account: CPU time to
`cutime` and `cstime` (proc_pid_stat(5)), I/O to the parent's own counts (proc_pid_io(5)).
So the sum over a postmaster and the children that live never falls, and its growth over a trial is what the server
used, clients' backends that have gone among it.
"""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Sequence
from pathlib import Path

_PROC = Path("/proc")
_NS_PER_TICK = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
# Until a family is seen twice with the same members; sessions that end are collected within some milliseconds.
_LOOKS, _BETWEEN_LOOKS_S = 50, 0.004


@dataclasses.dataclass(frozen=True, slots=True)
class Work:
    """Since the processes began; `disk_bytes` (read and written) is None where a process does not show them."""

    cpu_ns: int
    disk_bytes: int | None

    def __add__(self, other: Work) -> Work:
        """Both together; what one does not show, the sum does not know."""
        known = self.disk_bytes is not None and other.disk_bytes is not None
        return Work(self.cpu_ns + other.cpu_ns, (self.disk_bytes or 0) + (other.disk_bytes or 0) if known else None)


def work_of_family(pid: int, proc: Path = _PROC) -> Work | None:
    """A process and its children; None where they cannot be listed."""
    children = children_of(pid, proc)
    own = _work(proc / str(pid), with_collected=True)
    return None if own is None or children is None else sum(_living(children, proc), start=own)


def children_of(pid: int, proc: Path = _PROC) -> list[str] | None:
    """The pids of its children, those among them that have ended and were not collected yet; None: not to be seen."""
    try:
        return (proc / str(pid) / "task" / str(pid) / "children").read_text().split()
    except OSError:
        return None


def disk_read_bytes_of_family(pid: int, proc: Path = _PROC) -> int | None:
    """What a process and its children had the storage read; None where one of them does not show it.

    A child that is collected between two looks would be counted twice or not at all, so it is looked again.
    """
    for _ in range(_LOOKS):
        children = children_of(pid, proc)
        if children is None:
            return None
        try:
            counts = [_io_counts(proc / each)["read_bytes"] for each in (str(pid), *children)]
        except PermissionError:
            return None
        except OSError:
            time.sleep(_BETWEEN_LOOKS_S)
            continue
        if children_of(pid, proc) == children:
            return sum(counts)
    return None


def own_work(except_for: int) -> Work | None:
    """This very process with all its threads and the children that it has now, but for one: another engine's process is
    among them. Those that have ended are left out, because the server that was restarted is one of them."""
    own = _work(_PROC / "self", with_collected=False)
    others = [pid for pid in children_of(os.getpid()) or () if pid != str(except_for)]
    return None if own is None else sum(_living(others, _PROC), start=own)


def moved_bytes() -> int | None:
    """What this very process has read from storage and written to it since it began; None where it is not shown."""
    return _disk_bytes(_PROC / "self")


def _living(pids: Sequence[str], proc: Path) -> list[Work]:
    """One that ends just now is in its parent's account at the next reading."""
    found = (_work(proc / pid, with_collected=False) for pid in pids)
    return [work for work in found if work is not None]


def _work(process: Path, *, with_collected: bool) -> Work | None:
    try:
        # Behind the name, which may hold blanks and parentheses, come the fields from the third on.
        fields = (process / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    ticks = sum(map(int, fields[11:15] if with_collected else fields[11:13]))
    return Work(ticks * _NS_PER_TICK, _disk_bytes(process))


def _disk_bytes(process: Path) -> int | None:
    """What it made the storage do: pages that it dirtied count when they are dirtied, not when they are written."""
    try:
        counts = _io_counts(process)
    except OSError:
        return None
    return counts["read_bytes"] + counts["write_bytes"]


def _io_counts(process: Path) -> dict[str, int]:
    lines = (process / "io").read_text().splitlines()
    return {name: int(value) for name, _, value in (line.partition(":") for line in lines)}


def io_counts(pid: int) -> dict[str, int]:
    """`read` and `write`: what a process had the storage read, and what it wrote to files (pages that it dirtied)."""
    counts = _io_counts(_PROC / str(pid))
    return {"read": counts["read_bytes"], "write": counts["write_bytes"]}
