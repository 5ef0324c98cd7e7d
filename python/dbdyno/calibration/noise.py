"""What others did to the machine meanwhile, from the kernel's counters before and after."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path

from dbdyno.probes.device import DeviceCounts, read_device_counts

_STAT = Path("/proc/stat")
_NS_PER_TICK = 10_000_000


@dataclasses.dataclass(frozen=True, slots=True)
class Reading:
    """Counters at one moment. CPU times are of the whole host."""

    at_ns: int
    own_cpu_ns: int
    busy_ns: int
    stolen_ns: int
    all_ns: int
    device: DeviceCounts | None


def read(block_device: Path | None) -> Reading:
    """The counters now."""
    user, nice, system, idle, waiting, hard, soft, stolen = _ticks()
    return Reading(
        at_ns=time.monotonic_ns(),
        own_cpu_ns=time.process_time_ns(),
        busy_ns=user + nice + system,
        stolen_ns=stolen,
        all_ns=user + nice + system + idle + waiting + hard + soft + stolen,
        device=None if block_device is None else read_device_counts(block_device),
    )


def between(before: Reading, after: Reading, our_bytes: int) -> dict[str, float]:
    """Shares of the machine that others had; `our_bytes` is what we asked the device for meanwhile."""
    found = {}
    all_ns = after.all_ns - before.all_ns
    if all_ns > 0:
        others_ns = after.busy_ns - before.busy_ns - (after.own_cpu_ns - before.own_cpu_ns)
        found["other_cpu_share"] = max(0, others_ns) / all_ns
        found["stolen_share"] = (after.stolen_ns - before.stolen_ns) / all_ns
    if before.device is not None and after.device is not None:
        moved = _bytes(after.device) - _bytes(before.device)
        found["other_disk_share"] = max(0, moved - our_bytes) / moved if moved else 0.0
    return found


def _bytes(counts: DeviceCounts) -> int:
    return counts.read_bytes + counts.write_bytes


def _ticks() -> list[int]:
    try:
        fields = _STAT.read_text(encoding="ascii").partition("\n")[0].split()[1:9]
    except OSError:
        return [0] * 8
    return [int(field) * _NS_PER_TICK for field in fields]
