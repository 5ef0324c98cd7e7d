"""What a block device was asked for, from its `stat` file below /sys (Linux Documentation/block/stat.rst).

Requests are counted as they reach the device: after the page cache, the file system and the merging of neighbours.
Those of everybody who uses the device are among them.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

# The unit of the file, whatever the device's own block size.
_SECTOR_BYTES = 512


@dataclasses.dataclass(frozen=True, slots=True)
class DeviceCounts:
    """Since the machine started. `flushes` is None before Linux 5.5."""

    reads: int
    read_bytes: int
    writes: int
    write_bytes: int
    flushes: int | None


def read_device_counts(block: Path) -> DeviceCounts | None:
    """The counts of the device with this directory below /sys; None where they cannot be read.

    The kernel counts flushes of whole disks only, so a partition has its disk's.
    """
    try:
        counts = device_counts((block / "stat").read_text())
        if (block / "partition").exists():
            counts = dataclasses.replace(counts, flushes=device_counts((block.parent / "stat").read_text()).flushes)
    except OSError:
        return None
    return counts


def device_counts(stat: str) -> DeviceCounts:
    """Fields: reads, merged, sectors, ms; writes, merged, sectors, ms; 3 of now; 4 of discards; flushes, ms."""
    fields = [int(field) for field in stat.split()]
    return DeviceCounts(
        reads=fields[0],
        read_bytes=fields[2] * _SECTOR_BYTES,
        writes=fields[4],
        write_bytes=fields[6] * _SECTOR_BYTES,
        flushes=fields[15] if len(fields) > 15 else None,
    )


def device_work(block: Path, before: DeviceCounts, after: DeviceCounts) -> dict[str, Any]:
    """What it was asked for in between, as the trial's record has it."""
    flushes = None if before.flushes is None or after.flushes is None else after.flushes - before.flushes
    return {
        "name": block.name,
        "reads": after.reads - before.reads,
        "read_bytes": after.read_bytes - before.read_bytes,
        "writes": after.writes - before.writes,
        "write_bytes": after.write_bytes - before.write_bytes,
        "flushes": flushes,
    }
