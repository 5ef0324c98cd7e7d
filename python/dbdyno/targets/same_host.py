"""Whether a server's processes are visible here, and which of them is the parent of all backends.

An address proves nothing: a loopback port may be a tunnel, a container's bridge address may be this machine.
Proof is a process in our own /proc that has the backend's pid and began when the backend did; in a container the
backend knows its pid in the innermost namespace, the last of the line `NSpid`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from dbdyno.targets.target import Connection

# Start times in /proc are in clock ticks since boot, and the boot time is in whole seconds.
_START_TOLERANCE_S = 2.0


def find_postmaster(connection: Connection) -> int | None:
    """The pid, in our /proc, of the parent of this connection's backend; None for a server elsewhere."""
    backend = find_backend(connection)
    return None if backend is None else _parent_and_start(Path("/proc") / str(backend))[0]


def find_backend(connection: Connection) -> int | None:
    """The pid, in our /proc, of this connection's backend; None for a server elsewhere."""
    row = connection.execute(
        "SELECT pid, extract(epoch FROM backend_start)::float8 FROM pg_stat_activity WHERE pid = pg_backend_pid()"
    ).fetchone()
    if row is None:
        return None
    backend_pid, started_s = row
    for pid in _processes():
        if _innermost_pid(pid) == backend_pid and _is_postgres(pid):
            _, started_here_s = _parent_and_start(pid)
            if abs(started_here_s - started_s) <= _START_TOLERANCE_S:
                return int(pid.name)
    return None


def _processes() -> Iterator[Path]:
    return (path for path in Path("/proc").iterdir() if path.name.isdigit())


def _innermost_pid(process: Path) -> int | None:
    for line in _read(process / "status").splitlines():
        if line.startswith("NSpid:"):
            return int(line.split()[-1])
    return None


def _is_postgres(process: Path) -> bool:
    return _read(process / "comm").startswith("postgres")


def _parent_and_start(process: Path) -> tuple[int | None, float]:
    """Fields 4 and 22 of proc_pid_stat(5); the second field, the name, may hold spaces and brackets."""
    fields = _read(process / "stat").rpartition(")")[2].split()
    if len(fields) < 20:
        return None, 0.0
    return int(fields[1]), _boot_time_s() + int(fields[19]) / os.sysconf("SC_CLK_TCK")


def _boot_time_s() -> int:
    for line in _read(Path("/proc/stat")).splitlines():
        if line.startswith("btime "):
            return int(line.split()[1])
    return 0


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:  # the process has ended, or is not ours to see
        return ""
