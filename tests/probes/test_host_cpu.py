"""Shares of the host's CPU time between two readings of /proc/stat."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbdyno.probes.host_cpu import HostCpu, HostCpuMeter


def test_shares_are_of_the_time_between_two_readings(tmp_path: Path) -> None:
    """Nice time is user time, interrupts are system time, guest columns are not counted twice."""
    stat = tmp_path / "stat"
    stat.write_text("cpu  100 0 100 1000 0 0 0 0 50 0\ncpu0 1 1 1 1\n")
    meter = HostCpuMeter(stat)
    stat.write_text("cpu  130 10 115 1030 5 3 2 5 70 0\ncpu0 1 1 1 1\n")

    assert meter.read() == HostCpu(user=0.40, system=0.20, io_wait=0.05, steal=0.05, idle=0.30)


def test_ticks_that_the_kernel_took_back_count_as_nothing(tmp_path: Path) -> None:
    """No share is negative."""
    stat = tmp_path / "stat"
    stat.write_text("cpu  100 0 100 1000 9 0 0 0 0 0\n")
    meter = HostCpuMeter(stat)
    stat.write_text("cpu  103 0 101 999 9 0 0 0 0 0\n")

    assert meter.read() == HostCpu(user=0.75, system=0.25, io_wait=0.0, steal=0.0, idle=0.0)


def test_no_time_has_passed(tmp_path: Path) -> None:
    """Nothing is known, rather than a division by zero."""
    stat = tmp_path / "stat"
    stat.write_text("cpu  100 0 100 1000 0 0 0 0 50 0\n")

    assert HostCpuMeter(stat).read() is None


def test_a_host_without_proc_has_no_figures(tmp_path: Path) -> None:
    """None, not a failure."""
    assert HostCpuMeter(tmp_path / "absent").read() is None


def test_this_host_has_figures() -> None:
    """Its shares sum to 1."""
    meter = HostCpuMeter()
    found = None
    while found is None:
        found = meter.read()

    assert found.user + found.system + found.io_wait + found.steal + found.idle == pytest.approx(1.0)
