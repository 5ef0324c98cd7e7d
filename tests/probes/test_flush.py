"""Flush times are measured in the directory that was named, and leave nothing there."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from dbdyno.errors import DynoError
from dbdyno.probes.flush import measure_flush_times_ns


def test_flush_times(tmp_path: Path) -> None:
    """One time for each flush, all within the time that passed, and no file left."""
    began = time.perf_counter_ns()
    times = measure_flush_times_ns(tmp_path, 20)
    elapsed = time.perf_counter_ns() - began
    assert len(times) == 20
    assert min(times) > 0
    assert sum(times) < elapsed
    assert list(tmp_path.iterdir()) == []


def test_directory_that_is_not_there(tmp_path: Path) -> None:
    """The directory and the flag are named."""
    with pytest.raises(DynoError, match=r"data directory .*/gone: No such file or directory; name another with"):
        measure_flush_times_ns(tmp_path / "gone", 1)
