"""One server process: a direct child that does not outlive us.

`PR_SET_PDEATHSIG` asks the kernel to signal the child when the *thread* that made it ends, and is cleared by a change
of uid (PR_SET_PDEATHSIG(2const)).
So the server is started from the main thread, and the request is made after the change of uid, in `preexec_fn`, which
`subprocess` runs last before `exec`.
A parent that died between `fork` and `prctl` sends no signal any more: hence the look at `getppid`.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from dbdyno.targets.account import Account

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)

# An immediate shutdown: no checkpoint, yet pid file, socket and shared memory are removed. Measured under two updating
# clients on PostgreSQL 18.6: all 12 processes gone after 0.04 s; by SIGINT 0.16 to 0.24 s, and a checkpoint's I/O.
DEATH_SIGNAL = signal.SIGQUIT

# What a server process sees of our environment: nothing. Neither PG* variables nor secrets may reach it.
CLEAN_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}

# A fast shutdown writes all dirty pages: with large buffers on a slow disk that takes minutes.
_FAST_SHUTDOWN_LIMIT_S = 300.0
# PostgreSQL itself sends SIGKILL to children that ignore an immediate shutdown for 5 s (postmaster.c).
_IMMEDIATE_SHUTDOWN_LIMIT_S = 10.0


def start_server(command: Sequence[str], log: Path, account: Account) -> subprocess.Popen[bytes]:
    """Start a server as a child that gets `DEATH_SIGNAL` when this process ends."""
    if threading.current_thread() is not threading.main_thread():
        raise AssertionError("a server must be started from the main thread: it ends with the thread that started it")
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd="/",
            env=CLEAN_ENVIRONMENT,
            start_new_session=True,  # Ctrl-C at the terminal is for us; we then stop the server in order
            preexec_fn=die_with(os.getpid(), DEATH_SIGNAL),
            **account.process_arguments(),
        )


def die_with(parent: int, death_signal: signal.Signals) -> Callable[[], None]:
    """For `preexec_fn`: the child gets this signal when the thread that starts it ends; its parent is `parent`."""

    def request() -> None:
        if _LIBC.prctl(_PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0) != 0 or os.getppid() != parent:
            os._exit(1)

    return request


def run_quietly(command: Sequence[str], account: Account, *, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run a short command under the server's account, ended in order if we are killed (initdb cleans up on SIGTERM).

    The caller looks at its exit status and output.
    """
    return subprocess.run(
        command,
        input=stdin,
        capture_output=True,
        text=True,
        errors="replace",
        cwd="/",
        env=CLEAN_ENVIRONMENT,
        check=False,
        preexec_fn=die_with(os.getpid(), signal.SIGTERM),
        **account.process_arguments(),
    )


def stop_server(process: subprocess.Popen[bytes], *, keep_data: bool) -> bool:
    """Fast shutdown if the data will be used again, then immediate, then SIGKILL.

    The process is our unreaped child, so its pid cannot have been given to another.

    Returns:
        Whether the server removed its shared memory and socket itself.
    """
    requests = [(signal.SIGINT, _FAST_SHUTDOWN_LIMIT_S)] if keep_data else []
    for request, limit_s in (*requests, (signal.SIGQUIT, _IMMEDIATE_SHUTDOWN_LIMIT_S)):
        if process.poll() is None:
            process.send_signal(request)
        try:
            return process.wait(limit_s) >= 0
        except subprocess.TimeoutExpired:
            continue
    process.kill()
    process.wait()
    return False
