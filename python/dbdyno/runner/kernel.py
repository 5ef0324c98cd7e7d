"""What the kernel counts while the work goes on: CPU time of this machine, requests of the data directory's device,
and what others did with both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dbdyno.probes.device import DeviceCounts, device_work, read_device_counts
from dbdyno.probes.host_cpu import HostCpu, HostCpuMeter
from dbdyno.probes.noise import NoiseMeter
from dbdyno.probes.server_directory import server_directory
from dbdyno.probes.storage import block_device_of
from dbdyno.targets.target import Target


class KernelCounters:
    """One span of work on a server, from now on; all of it unknown (null) for a server on another machine."""

    def __init__(self, target: Target) -> None:
        pid = target.postmaster_pid
        directory = None if pid is None else server_directory(target)
        self._block: Path | None = None if directory is None else block_device_of(directory)
        self._device: DeviceCounts | None = self._read_device()
        self._meter: HostCpuMeter | None = None if pid is None else HostCpuMeter()
        self._noise: NoiseMeter | None = None if pid is None else NoiseMeter(pid, self._block)

    def record(self) -> dict[str, Any]:
        """`host`, `device` and `noise` of the trial's record: the work until now."""
        noise = {} if self._noise is None else self._noise.read()
        host = None if self._meter is None else self._meter.read()
        before, after = self._device, self._read_device()
        device = None
        if self._block is not None and before is not None and after is not None:
            device = device_work(self._block, before, after)
        return {"host": None if host is None else _shares(host), "device": device, "noise": noise}

    def _read_device(self) -> DeviceCounts | None:
        return None if self._block is None else read_device_counts(self._block)


def _shares(host: HostCpu) -> dict[str, float]:
    return {
        "cpu_user_share": host.user,
        "cpu_system_share": host.system,
        "cpu_io_wait_share": host.io_wait,
        "cpu_steal_share": host.steal,
        "cpu_idle_share": host.idle,
    }
