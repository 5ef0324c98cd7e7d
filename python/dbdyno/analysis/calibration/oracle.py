"""The four figures of DBMS_RESOURCE_MANAGER.CALIBRATE_IO, so that who knows them recognises the answer.

    max_iops     small random reads a second, the most at which the mean latency stays within max_latency
    latency      the mean latency there, in ms
    max_mbps     large random reads, MiB a second, the most of all loads
    max_pmbps    the same by one process, one read at a time

Oracle prints them as integers; a latency below half a millisecond is then 0, and a pair such as 2,215,356 IOPS at 0 ms
was published as a result. Here each comes with what it hides.
"""

from __future__ import annotations

from collections.abc import Sequence

from dbdyno.analysis.calibration.findings import CalibrateIo, Load, Size
from dbdyno.analysis.calibration.knee import POWER, Knee

MIB = 1 << 20
# A disk with moving parts serves one request at a time and gains from a few in its queue.
PLAUSIBLE_PER_DISK = 32


def calibrate_io(
    loads: Sequence[Load], sizes: Sequence[Size], knees: Sequence[Knee], num_disks: int, max_latency_ms: float
) -> CalibrateIo | None:
    """The four figures; None where nothing was measured within the latency."""
    within = [load for load in loads if load.latency.mean_ns.estimate <= max_latency_ms * 1e6]
    large = [size for size in sizes if size.io_bytes == MIB and not size.sequential]
    if not within or not large:
        return None
    best = max(within, key=lambda load: load.iops.estimate)
    most = max(large, key=lambda size: size.bytes_per_s.estimate)
    alone = min(large, key=lambda size: size.depth)
    latency_ms = best.latency.mean_ns.estimate / 1e6
    concurrency = best.iops.estimate * latency_ms / 1e3
    return CalibrateIo(
        max_iops=round(best.iops.estimate),
        latency_ms=latency_ms,
        max_mbps=round(most.bytes_per_s.estimate / MIB),
        max_pmbps=round(alone.bytes_per_s.estimate / MIB),
        depth=best.depth,
        concurrency=concurrency,
        num_disks=num_disks,
        max_latency_ms=max_latency_ms,
        large_depth=most.depth,
        notes=tuple(_notes(best, knees, concurrency, num_disks, sizes, most)),
    )


def _notes(
    best: Load, knees: Sequence[Knee], concurrency: float, num_disks: int, sizes: Sequence[Size], most: Size
) -> list[str]:
    """What the figures hide."""
    notes = [f"max_iops is reached with {best.depth} reads in flight at a time"]
    power = next((knee for knee in knees if knee.formula == POWER), None)
    if power is not None and power.depth < best.depth:
        share = power.iops.estimate / best.iops.estimate
        notes.append(f"the knee is at {power.depth} in flight, where {share:.0%} of max_iops are served")
    tail = best.latency.p99_ns.estimate / best.latency.mean_ns.estimate
    notes.append(f"latency is a mean: 1 read in 100 takes {tail:.1f} times as long and more")
    if concurrency > PLAUSIBLE_PER_DISK * num_disks:
        notes.append(
            f"max_iops x latency is {concurrency:.0f} reads at a time, impossible for {num_disks} "
            f"disk{'s' if num_disks > 1 else ''} with moving parts: it is solid state, a cache, or more disks"
        )
    in_order = [one for one in sizes if one.sequential and one.io_bytes == most.io_bytes and one.depth == most.depth]
    if in_order:
        ratio = in_order[0].bytes_per_s.estimate / most.bytes_per_s.estimate
        notes.append(f"max_mbps is of random reads; in order they reach {ratio:.2f} times as much")
    return notes
