"""Memory, CPU and threads of another process, by what it is known to have done."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from dbdyno.probes.thread_clocks import ThreadClocks
from dbdyno.probes.work_watch import WorkWatch, anonymous_bytes, process_cpu_ns

MIB = 1 << 20
# Says when it is ready, does what it was started with when it is told to, and waits for the end.
PROGRAM = """
import mmap, sys, threading, time
def burn(seconds):
    ends = time.thread_time() + seconds
    while time.thread_time() < ends:
        pass
print("ready", flush=True); sys.stdin.readline()
{work}
print("done", flush=True); sys.stdin.readline()
"""


@contextmanager
def program(work: str) -> Iterator[subprocess.Popen[str]]:
    """Ready."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(work=work)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def tell(process: subprocess.Popen[str]) -> None:
    """Until it has done its work."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("go\n")
    process.stdin.flush()
    assert process.stdout.readline() == "done\n"


def test_memory_is_what_a_process_holds_for_itself() -> None:
    """64 MB that are given back before the end are seen; 64 MB beside them that it shares are not."""
    shares = "shared = mmap.mmap(-1, 64 << 20)\nfor _ in range(64): shared.write(bytes(1 << 20))"
    work = f"own = bytearray(64 << 20)\n{shares}\ntime.sleep(0.1)\ndel own"
    with program(work) as process:
        before = anonymous_bytes(process.pid)
        assert before is not None
        with WorkWatch(lambda: [process.pid]) as watch:
            tell(process)

    # A megabyte of what is written, and what the interpreter takes.
    assert 64 * MIB <= watch.memory_bytes - before < 72 * MIB


def test_cpu_is_that_of_all_threads_and_exact() -> None:
    """Two threads, one of which has ended."""
    work = "thread = threading.Thread(target=burn, args=(0.1,))\nthread.start()\nthread.join()\nburn(0.05)"
    with program(work) as process:
        clocks = ThreadClocks(process.pid)
        with WorkWatch(lambda: [process.pid]) as watch:
            tell(process)
        used = clocks.cpu_ns()
        assert used is not None
        assert 150_000_000 <= used < 250_000_000
        assert watch.cpu_ns[process.pid] <= used + clocks._process_cpu_ns  # type: ignore[operator]


def test_the_busiest_thread_is_found_though_it_has_ended() -> None:
    """Its CPU time is exact, because the process's is, and the others' are known."""
    work = "thread = threading.Thread(target=burn, args=(0.2,))\nthread.start()\nthread.join()\nburn(0.02)"
    with program(work) as process:
        clocks = ThreadClocks(process.pid)
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
        while (process_cpu_ns(process.pid) or 0) < (clocks._process_cpu_ns or 0) + 150_000_000:
            clocks.look()
            time.sleep(0.002)
        assert process.stdout is not None
        assert process.stdout.readline() == "done\n"
        clocks.look()
        busiest = clocks.busiest()

    assert busiest is not None
    assert 190_000_000 <= busiest.cpu_ns < 260_000_000


def test_a_process_that_is_gone_is_not_guessed_at() -> None:
    """Neither its memory nor its CPU; of the watch, what it was at the last look stays."""
    with program("pass") as process:
        pid = process.pid
        with WorkWatch(lambda: [pid]) as watch:
            process.kill()
            process.wait()

    assert watch.memory_bytes > MIB
    assert watch.cpu_ns[pid] > 0
    assert (anonymous_bytes(pid), process_cpu_ns(pid)) == (None, None)


def test_our_own_clock_is_the_process_clock() -> None:
    """The number that the kernel takes for the clock of a process is made from its pid."""
    found = process_cpu_ns(os.getpid())

    assert found == pytest.approx(time.process_time_ns(), rel=0.05)
