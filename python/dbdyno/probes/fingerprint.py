"""How fast this machine is right now: a third of a second of hashing and copying, before anything else runs.

The least of several short turns is taken: what disturbs a turn can only make it slower. So these figures say what
the machine is capable of, not how busy it is.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

TURNS = 9
_KIB = 1024
# Fits into the second-level cache of any server, and one turn of 16 takes some milliseconds: a thousand times the
# resolution of a clock, and short enough to fall between two interruptions.
_HASHED_BYTES = 256 * _KIB
_HASHINGS_A_TURN = 16
# Larger than the last-level cache that one core reaches on any server but a few.
_COPIED_BYTES = 64 * _KIB * _KIB


def take_fingerprint() -> dict[str, float]:
    """`cpu_ns_per_kib` (by the wall), `cpu_clock_ns_per_kib` (by the thread's own clock), `memory_ns_per_kib`.

    The thread's clock stands still while somebody else has the CPU: where it holds and the wall does not, the CPU is
    as fast as ever and shared.
    """
    hashed = os.urandom(_HASHED_BYTES)

    def hash_it() -> None:
        for _ in range(_HASHINGS_A_TURN):
            hashlib.blake2b(hashed).digest()

    hashed_kib = _HASHED_BYTES * _HASHINGS_A_TURN / _KIB
    copy_ns = _least_copy_ns()
    _forget_peak_memory()
    return {
        "cpu_ns_per_kib": _least_ns(hash_it, time.perf_counter_ns) / hashed_kib,
        "cpu_clock_ns_per_kib": _least_ns(hash_it, time.thread_time_ns) / hashed_kib,
        "memory_ns_per_kib": copy_ns / (_COPIED_BYTES / _KIB),
    }


def _least_ns(work: Callable[[], object], clock: Callable[[], int]) -> int:
    times = []
    for _ in range(TURNS):
        began = clock()
        work()
        times.append(clock() - began)
    return min(times)


def _least_copy_ns() -> int:
    source = np.ones(_COPIED_BYTES, dtype=np.uint8)  # not zeros: the kernel has one page for all of those
    target = np.empty_like(source)
    return _least_ns(lambda: np.copyto(target, source), time.perf_counter_ns)


def _forget_peak_memory() -> None:
    """The peak of our memory is a figure of the driver's; the buffers, given back by now, are no part of it."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return
