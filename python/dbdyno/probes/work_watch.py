"""What the processes that do a trial's work hold in memory and use of the CPUs, seen from outside 200 times a second.

Memory is anonymous memory: resident pages less those of files and shared mappings (`statm`), so that neither a server's
shared buffers nor a file read through a mapping is in it. CPU is that of all of a process's threads, exact whenever it
is read (`clock_gettime` of the process's clock). Of a process that ended, what it did after the last look is missing:
2.5 ms in the mean.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from dbdyno.probes.process_work import children_of

PERIOD_S = 0.005
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def anonymous_bytes(pid: int) -> int | None:
    """What a process holds for itself; None where it is gone or not to be seen."""
    try:
        _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text().split()
    except (OSError, ValueError):
        return None
    return (int(resident) - int(shared)) * _PAGE_BYTES


def process_cpu_ns(pid: int) -> int | None:
    """CPU time of a process with all its threads, those that ended among them; None where it is gone."""
    try:
        return time.clock_gettime_ns((~pid << 3) | 2)  # MAKE_PROCESS_CPUCLOCK(pid, CPUCLOCK_SCHED) of the kernel
    except OSError:
        return None


class WorkWatch:
    """Looks at some processes, whichever there are at each look, from a thread of its own while it is entered.

    Args:
        processes: the pids at this moment.
    """

    def __init__(self, processes: Callable[[], Iterable[int]]) -> None:
        self._processes = processes
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look_until_stopped, name="dbdyno-work", daemon=True)
        self._cpu_ns: dict[int, int] = {}
        self.memory_bytes = 0

    def __enter__(self) -> Self:
        self._look()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
        self._look()

    @property
    def cpu_ns(self) -> dict[int, int]:
        """By pid, from its beginning to the last look."""
        return dict(self._cpu_ns)

    def _look_until_stopped(self) -> None:
        while not self._stop.wait(PERIOD_S):
            self._look()

    def _look(self) -> None:
        held = 0
        for pid in self._processes():
            held += anonymous_bytes(pid) or 0
            if (cpu_ns := process_cpu_ns(pid)) is not None:
                self._cpu_ns[pid] = cpu_ns
        self.memory_bytes = max(self.memory_bytes, held)


class SessionProcesses:
    """The client backends and parallel workers of a server that began after this was made."""

    def __init__(self, postmaster_pid: int) -> None:
        self._postmaster_pid = postmaster_pid
        self._before = set(children_of(postmaster_pid) or ())
        self._kinds: dict[str, str] = {}

    def __call__(self) -> list[int]:
        """The session that holds most memory, and all workers: what else began are dbdyno's own sessions."""
        new = [pid for pid in children_of(self._postmaster_pid) or () if pid not in self._before]
        kinds = {pid: self._kind(pid) for pid in new}
        workers = [int(pid) for pid, kind in kinds.items() if kind == "worker"]
        sessions = [int(pid) for pid, kind in kinds.items() if kind == "session"]
        return [*workers, *sorted(sessions, key=lambda pid: anonymous_bytes(pid) or 0)[-1:]]

    def workers(self) -> list[int]:
        """Every parallel worker that was seen."""
        return [int(pid) for pid, kind in self._kinds.items() if kind == "worker"]

    def _kind(self, pid: str) -> str:
        """By the title that a server process gives itself soon after it began."""
        if pid not in self._kinds:
            title = ""
            with contextlib.suppress(OSError):
                title = Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
            if not title.startswith("postgres: "):
                return ""
            own = ("autovacuum", "io worker", "logical replication", "checkpointer", "walwriter", "background writer")
            kind = title.removeprefix("postgres: ")
            is_worker = kind.startswith("parallel worker")
            self._kinds[pid] = "worker" if is_worker else "" if kind.startswith(own) else "session"
        return self._kinds[pid]
