"""What else went on on this host during a span of work: a few files of the kernel, read before and after.

    meter = NoiseMeter(postmaster_pid, block_device)
    ... the work ...
    noise = meter.read()   # {"other_cpu_share": 0.02, "io_pressure_some_share": 0.11, ...}

A figure that cannot be read is absent; none is guessed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

from dbdyno.probes.device import read_device_counts
from dbdyno.probes.pressure import read_pressure_us
from dbdyno.probes.process_work import Work, own_work, work_of_family

_STAT = Path("/proc/stat")
_CPU_DIRECTORY = Path("/sys/devices/system/cpu")
# A reading of one CPU's clock may take the kernel a millisecond; so many tell the mean of a large host well enough.
_MOST_CLOCKS_READ = 16
_NS_PER_TICK = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


class NoiseMeter:
    """Counts from its making on.

    Args:
        postmaster_pid: the parent of all processes of the server.
        block: the directory below /sys of the data directory's device, where it is known.
    """

    def __init__(self, postmaster_pid: int, block: Path | None) -> None:
        self._postmaster_pid = postmaster_pid
        self._block = block
        self._before = self._reading()

    def read(self) -> dict[str, float]:
        """The span until now, as `noise` of the trial's record has it."""
        clock_hz = mean_clock_hz()  # first: the clock falls when the work is over
        before, after = self._before, self._reading()
        elapsed_ns = after.at_ns - before.at_ns
        return {
            **_pressure_shares(before, after, elapsed_ns),
            **dict(_other_cpu(before, after)),
            **dict(_other_disk(before, after, elapsed_ns)),
            **({} if clock_hz is None else {"cpu_clock_hz": clock_hz}),
        }

    def _reading(self) -> _Reading:
        return _Reading(self._postmaster_pid, self._block)


class _Reading:
    """All counts at one moment."""

    def __init__(self, postmaster_pid: int, block: Path | None) -> None:
        self.at_ns = time.monotonic_ns()
        self.pressure_us = read_pressure_us()
        self.host_busy_ns, self.host_ns = host_cpu_ns(_STAT)
        device = None if block is None else read_device_counts(block)
        self.device_bytes = None if device is None else device.read_bytes + device.write_bytes
        self.ours = _ours(postmaster_pid)


def _ours(postmaster_pid: int) -> Work | None:
    """The server's and the driver's: what is left of the host is that of others."""
    server, driver = work_of_family(postmaster_pid), own_work(except_for=postmaster_pid)
    return None if server is None or driver is None else server + driver


def host_cpu_ns(stat: Path) -> tuple[int, int]:
    """Time in which the host's CPUs ran tasks, and all their time, since it started; zeros where it is not shown.

    Interrupts are left out of the first: whether a task's own clock holds them depends on how the kernel was built.
    """
    try:
        fields = stat.read_text(encoding="ascii").partition("\n")[0].split()
    except OSError:
        return 0, 0
    user, nice, system, *rest = map(int, fields[1:9])
    return (user + nice + system) * _NS_PER_TICK, (user + nice + system + sum(rest)) * _NS_PER_TICK


def mean_clock_hz(directory: Path = _CPU_DIRECTORY) -> float | None:
    """The mean clock of the CPUs now; None where the kernel does not say, as on most virtual machines."""
    files = sorted(directory.glob("cpu[0-9]*/cpufreq/scaling_cur_freq"))
    try:
        clocks = [int(file.read_text()) * 1000 for file in files[:: -(-len(files) // _MOST_CLOCKS_READ) or 1]]
    except (OSError, ValueError):
        return None
    return fmean(clocks) if clocks else None


def _pressure_shares(before: _Reading, after: _Reading, elapsed_ns: int) -> dict[str, float]:
    common = after.pressure_us.keys() & before.pressure_us.keys()
    return {
        f"{name}_share": (after.pressure_us[name] - before.pressure_us[name]) * 1000 / elapsed_ns
        for name in sorted(common)
    }


def _other_cpu(before: _Reading, after: _Reading) -> Iterator[tuple[str, float]]:
    """Of all CPU time of the host; ticks and processes' own clocks agree within a few ticks, hence never below 0."""
    host_ns = after.host_ns - before.host_ns
    if before.ours is not None and after.ours is not None and host_ns > 0:
        other_ns = after.host_busy_ns - before.host_busy_ns - (after.ours.cpu_ns - before.ours.cpu_ns)
        yield "other_cpu_share", max(0, other_ns) / host_ns


def _other_disk(before: _Reading, after: _Reading, elapsed_ns: int) -> Iterator[tuple[str, float]]:
    """What reached the device and was neither the server's nor ours; the file system's journal is in it."""
    if before.device_bytes is None or after.device_bytes is None or before.ours is None or after.ours is None:
        return
    if before.ours.disk_bytes is None or after.ours.disk_bytes is None:
        return
    all_bytes = after.device_bytes - before.device_bytes
    other = max(0, all_bytes - (after.ours.disk_bytes - before.ours.disk_bytes))
    yield "other_disk_bytes_per_s", other / elapsed_ns * 1e9
    yield "other_disk_share", other / all_bytes if all_bytes else 0.0
