"""What a killed run leaves, and its removal at the next start.

An instance whose `owner.lock` nobody holds belongs to a process that is gone, however its pid has been used since.
Its server has normally ended by itself (see `process`) and removed its shared memory and its socket; what is removed
here are the directory, and the shared-memory segment of a server that was itself killed.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import time
from pathlib import Path

from dbdyno.targets.paths import INSTANCE_PREFIX
from dbdyno.targets.shared_memory import remove_shared_memory

_SERVER_END_LIMIT_S = 10.0


def remove_leftovers(parent: Path) -> list[Path]:
    """Remove the instances in `parent` whose owners are gone; returns them. The caller holds `exclusive(parent)`."""
    removed = []
    for directory in sorted(parent.glob(f"{INSTANCE_PREFIX}*")):
        if directory.is_symlink() or not (directory / "owner.lock").is_file() or _owner_lives(directory):
            continue
        end_orphan(directory / "cluster")
        remove_shared_memory(directory / "cluster")
        shutil.rmtree(directory, ignore_errors=True)
        removed.append(directory)
    return removed


def _owner_lives(directory: Path) -> bool:
    try:
        descriptor = os.open(directory / "owner.lock", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return True  # not ours to judge, e.g. another user's
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(descriptor)


def end_orphan(cluster: Path) -> None:
    """End a server that still runs in `cluster`; its working directory proves that the pid is this server's."""
    lines = _pid_file(cluster)
    if not lines:
        return
    try:
        process = os.pidfd_open(int(lines[0]))
    except (OSError, ValueError):
        return
    try:
        if not _works_in(int(lines[0]), cluster):
            return
        for request in (signal.SIGQUIT, signal.SIGKILL):
            signal.pidfd_send_signal(process, request)
            if _ends(int(lines[0]), cluster):
                return
    except ProcessLookupError:
        return
    finally:
        os.close(process)


def _works_in(pid: int, cluster: Path) -> bool:
    try:
        return Path(f"/proc/{pid}/cwd").readlink() == cluster
    except OSError:
        return False


def _ends(pid: int, cluster: Path) -> bool:
    limit = time.monotonic() + _SERVER_END_LIMIT_S
    while time.monotonic() < limit:
        if not _works_in(pid, cluster):
            return True
        time.sleep(0.02)
    return False


def _pid_file(cluster: Path) -> list[str]:
    try:
        return (cluster / "postmaster.pid").read_text().splitlines()
    except OSError:
        return []
