"""A process of `dbdyno.peers`: started, asked a line at a time, gone when it is left, and with us if we are killed."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from dbdyno.errors import EXIT_RUN_FAILED, DynoError
from dbdyno.targets.process import die_with

Process = subprocess.Popen[bytes]
NO_DESCRIPTORS: Sequence[int] = ()


@contextmanager
def started(
    descriptors: Sequence[int] = NO_DESCRIPTORS, environment: Mapping[str, str] | None = None
) -> Iterator[Process]:
    """The process, before anything was said to it.

    Args:
        descriptors: of ours, which it has as well.
        environment: what stands in its environment beside ours.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "dbdyno.peers"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # what goes wrong it says in its answer; libraries say other things as they end
        cwd="/",
        env={**os.environ, **(environment or {})},
        pass_fds=descriptors,
        start_new_session=True,  # Ctrl-C at the terminal is for us
        preexec_fn=die_with(os.getpid(), signal.SIGKILL),
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def ask(
    engine: str, process: Process, line: str, each: tuple[float, Callable[[], None]] | None = None
) -> dict[str, Any]:
    """The answer to a line.

    Args:
        engine: for messages.
        process: asked.
        line: what it is told.
        each: seconds, and what is called so often until the answer comes.
    """
    stdin, stdout = process.stdin, process.stdout
    assert stdin is not None
    assert stdout is not None
    try:
        stdin.write(f"{line}\n".encode())
        stdin.flush()
    except BrokenPipeError:
        raise _failed(engine, "its process has ended") from None
    while each is not None and not select.select([stdout], [], [], each[0])[0]:
        each[1]()
    answer = stdout.readline()
    if not answer:
        raise _failed(engine, "its process has ended")
    found: dict[str, Any] = json.loads(answer)
    if "error" in found:
        raise _failed(engine, found["error"])
    return found


def _failed(engine: str, what: str) -> DynoError:
    return DynoError("engine_failed", f"engine {engine}: {what}", exit_code=EXIT_RUN_FAILED)
