"""How much is measured: a minute, five, or thirty.

A cell's window is short, because many short ones in random order tell more than few long ones: neighbouring windows
share the state of the machine (correlation 0.6 between neighbours was seen), and what is compared must meet the same
states.
"""

from __future__ import annotations

import dataclasses

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
MS, S = 1_000_000, 1_000_000_000

# PostgreSQL's, and that of CALIBRATE_IO's small reads.
PAGE_BYTES = 8 * KIB
LARGE_BYTES = MIB
FLUSH_METHODS = ("fdatasync", "fsync", "open_datasync", "open_sync")


@dataclasses.dataclass(frozen=True, slots=True)
class Budget:
    """What one calibration spends. A phase without blocks is left out."""

    name: str
    file_bytes: int
    settle_ns: int
    window_ns: int
    # Of one read at a time without a rest, and after a rest each.
    idle_blocks: int
    rested_window_ns: int
    cache_blocks: int
    cache_window_ns: int
    # Spans up to this size are read through before they are measured.
    warmed_bytes: int
    depths: tuple[int, ...]
    # At most; it ends before where all is known precisely, but not with fewer than the least.
    sweep_blocks: int
    least_sweep_blocks: int
    size_blocks: int
    size_window_ns: int
    sizes: tuple[int, ...]
    size_depths: tuple[int, ...]
    burst_ns: int
    flush_blocks: int
    commits_per_block: int
    writers: tuple[int, ...]
    group_blocks: int
    # Reads as a share of those at the knee, and writes beside them as a share of the same.
    read_shares: tuple[float, ...]
    write_shares: tuple[float, ...]
    mixed_blocks: int


QUICK = Budget(
    name="quick",
    file_bytes=1 * GIB,
    settle_ns=30 * MS,
    window_ns=150 * MS,
    idle_blocks=8,
    rested_window_ns=400 * MS,
    cache_blocks=8,  # with fewer no span of five could be told from the whole file (Holm)
    cache_window_ns=100 * MS,
    warmed_bytes=256 * MIB,
    depths=(1, 2, 4, 8, 16, 32, 64, 128),
    sweep_blocks=10,
    least_sweep_blocks=10,
    size_blocks=6,
    size_window_ns=100 * MS,
    sizes=(PAGE_BYTES, 128 * KIB, LARGE_BYTES),
    size_depths=(1, 8),
    burst_ns=8 * S,
    flush_blocks=24,
    commits_per_block=20,
    writers=(1, 2, 4, 8),
    group_blocks=8,
    read_shares=(0.5, 0.8),
    write_shares=(0.0, 0.1, 0.4),
    mixed_blocks=6,
)
STANDARD = dataclasses.replace(
    QUICK,
    name="standard",
    file_bytes=4 * GIB,
    window_ns=300 * MS,
    idle_blocks=16,
    rested_window_ns=800 * MS,
    cache_blocks=12,
    cache_window_ns=200 * MS,
    warmed_bytes=GIB,
    depths=(1, 2, 4, 8, 16, 32, 64, 128, 256),
    sweep_blocks=16,
    least_sweep_blocks=12,
    size_blocks=8,
    size_window_ns=200 * MS,
    sizes=(PAGE_BYTES, 16 * KIB, 32 * KIB, 64 * KIB, 128 * KIB, 256 * KIB, 512 * KIB, LARGE_BYTES),
    size_depths=(1, 4, 16),
    burst_ns=45 * S,
    flush_blocks=60,
    commits_per_block=40,
    group_blocks=12,
    write_shares=(0.0, 0.05, 0.1, 0.2, 0.4),
    mixed_blocks=10,
)
FULL = dataclasses.replace(
    STANDARD,
    name="full",
    file_bytes=16 * GIB,
    window_ns=500 * MS,
    idle_blocks=40,
    rested_window_ns=1 * S,
    cache_blocks=24,
    sweep_blocks=60,
    least_sweep_blocks=16,
    size_blocks=20,
    size_window_ns=400 * MS,
    burst_ns=120 * S,
    flush_blocks=240,
    group_blocks=40,
    mixed_blocks=30,
)
BUDGETS = {budget.name: budget for budget in (QUICK, STANDARD, FULL)}
