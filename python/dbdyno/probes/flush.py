"""How long the storage takes to make a small write durable.

The write goes where WAL writes go: sequentially over space that is already allocated and written, 8 KiB at a time, each
followed by fdatasync. Python's part is at most 1.3 us, the median on tmpfs, where there is nothing to flush.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from dbdyno.errors import DynoError

PAGE_BYTES = 8192


def measure_flush_times_ns(directory: Path, flushes: int, bytes_each: int = PAGE_BYTES) -> list[int]:
    """The time of each of `flushes` writes with fdatasync, to a file in `directory` that has no name."""
    try:
        with tempfile.TemporaryFile(dir=directory, buffering=0) as file:
            return _flush_times_ns(file.fileno(), flushes, bytes_each)
    except OSError as error:
        raise DynoError(
            "flush_not_measured", f"data directory {directory}: {error.strerror}; name another with --data-dir"
        ) from error


def _flush_times_ns(descriptor: int, flushes: int, bytes_each: int) -> list[int]:
    page = os.urandom(bytes_each)  # storage that compresses or leaves out zeros would look fast
    for number in range(flushes):
        os.pwrite(descriptor, page, number * bytes_each)
    os.fsync(descriptor)
    times_ns = []
    for number in range(flushes):
        began = time.perf_counter_ns()
        os.pwrite(descriptor, page, number * bytes_each)
        os.fdatasync(descriptor)
        times_ns.append(time.perf_counter_ns() - began)
    return times_ns
