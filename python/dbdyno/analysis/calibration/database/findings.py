"""What measuring through a database concludes: plain frozen dataclasses. A report may look at these."""

from __future__ import annotations

import dataclasses

from dbdyno.analysis.calibration.findings import HeatMap, Latency, Load
from dbdyno.analysis.findings import Estimate


@dataclasses.dataclass(frozen=True, slots=True)
class Beside:
    """A figure of the server against the device's own of the same blocks."""

    ratio: Estimate  # of the rates, server / device
    added_ns: Estimate | None  # what the server adds to the mean; below 0 where a cache answers before the device could


@dataclasses.dataclass(frozen=True, slots=True)
class Reads:
    """Lookups of single pages by so many sessions, by one way of reading."""

    arm: str
    sessions: int
    blocks: int
    lookups_per_s: Estimate
    reads_per_s: Estimate  # pages that the server asked the kernel for
    reads_per_lookup: float
    page_cache_share: Estimate | None  # of these reads; below 0 where more was read from the storage than asked for
    latency: Latency  # of a lookup
    server_cpu_ns: float | None  # of a lookup
    driver_cpu_ns: float
    beside: Beside | None


@dataclasses.dataclass(frozen=True, slots=True)
class Scan:
    """One process that reads in order; the arm `device` is the device itself."""

    arm: str
    bytes_per_s: Estimate
    page_cache_share: Estimate | None
    beside: Beside | None


@dataclasses.dataclass(frozen=True, slots=True)
class Commits:
    """So many sessions that commit one row each time, and as many writers of the device."""

    sessions: int
    commits_per_s: Estimate
    latency: Latency
    wal_bytes_per_commit: float
    device_per_s: Estimate | None
    device_p50_ns: float | None
    beside: Beside | None


@dataclasses.dataclass(frozen=True, slots=True)
class LeftOut:
    """A way of reading that this server does not have."""

    arm: str
    reason: str


@dataclasses.dataclass(frozen=True, slots=True)
class Database:
    """All of it. `device` has the device's own reads of the same blocks."""

    target: str
    version: str
    settings: dict[str, str]
    table_bytes: int
    blocks: int
    arms: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    device: tuple[Load, ...]
    reads: tuple[Reads, ...]
    scans: tuple[Scan, ...]
    commits: tuple[Commits, ...]
    heat_maps: tuple[HeatMap, ...]
    reads_counted_by: str | None  # processes | device | None: where nobody counts what came from the storage
    failed: str | None
    warnings: tuple[dict[str, str], ...]
