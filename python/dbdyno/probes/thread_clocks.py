"""CPU time and run queue of another process, thread by thread.

A thread's schedstat is exact while it sleeps, so the first look comes before the work and the last one when the process
waits for us again; of a thread that ended meanwhile the last look before its end counts.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

from dbdyno.probes.work_watch import process_cpu_ns


@dataclasses.dataclass(frozen=True, slots=True)
class ThreadTimes:
    """Of one thread, since the first look."""

    cpu_ns: int
    run_queue_ns: int


class ThreadClocks:
    """The clocks of a process that sleeps now."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._process_cpu_ns = process_cpu_ns(pid)
        self._before: dict[str, ThreadTimes] = {}
        self._latest: dict[str, ThreadTimes] = {}
        self.look()
        self._before = dict(self._latest)

    def look(self) -> None:
        """Read all threads that there are."""
        for task in Path(f"/proc/{self._pid}/task").glob("*"):
            try:
                cpu_ns, run_queue_ns, _ = (task / "schedstat").read_text().split()
            except (OSError, ValueError):
                continue  # it has just ended, or this kernel keeps none
            self._latest[task.name] = ThreadTimes(int(cpu_ns), int(run_queue_ns))

    def cpu_ns(self) -> int | None:
        """Of the whole process since the first look, exactly; None where it cannot be read."""
        now = process_cpu_ns(self._pid)
        return None if now is None or self._process_cpu_ns is None else now - self._process_cpu_ns

    def busiest(self) -> ThreadTimes | None:
        """The thread that has used most CPU; None where the kernel keeps no clocks of threads.

        Its CPU time is what the process has used and no other thread has, so that nothing of it is missed.
        """
        nothing = ThreadTimes(0, 0)
        used = {tid: _difference(times, self._before.get(tid, nothing)) for tid, times in self._latest.items()}
        whole_ns = self.cpu_ns()
        if not used or whole_ns is None:
            return None
        first, *others = sorted(used.values(), key=lambda times: -times.cpu_ns)
        return ThreadTimes(max(0, whole_ns - sum(times.cpu_ns for times in others)), first.run_queue_ns)


def _difference(after: ThreadTimes, before: ThreadTimes) -> ThreadTimes:
    return ThreadTimes(after.cpu_ns - before.cpu_ns, after.run_queue_ns - before.run_queue_ns)
