"""The fingerprint of CPU and memory."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dbdyno.probes.fingerprint import take_fingerprint


def peak_memory_kib() -> int:
    """The kernel's high-water mark of our resident memory."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def test_every_figure_is_a_time() -> None:
    """The mean turn takes no less than the least one; hashing a KiB takes longer than copying it."""
    found = take_fingerprint()

    assert found.keys() == {"cpu_ns_per_kib", "cpu_seen_ns_per_kib", "memory_ns_per_kib"}
    assert 0 < found["memory_ns_per_kib"] < found["cpu_ns_per_kib"] <= found["cpu_seen_ns_per_kib"]


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="the kernel keeps its high-water mark")
def test_its_buffers_are_not_charged_to_the_driver() -> None:
    """128 MiB for a moment, and none of it in the peak that the driver reports later."""
    take_fingerprint()
    resident = Path("/proc/self/statm").read_text().split()[1]

    assert peak_memory_kib() < int(resident) * os.sysconf("SC_PAGE_SIZE") / 1024 + 64 * 1024
