"""How much is measured through the database, and what that takes."""

from __future__ import annotations

import dataclasses

from dbdyno.calibration.budget import GIB, MIB, MS, PAGE_BYTES, S

SESSIONS = (1, 2, 4, 8, 16, 32, 64)
# A server's memory is so many times smaller than the table, so that about 3 % of the reads find their page in it.
TABLE_TIMES_MEMORY = 32
# Sixty-four sessions pin some pages each.
LEAST_MEMORY_BYTES = 4 * MIB
# Of a fresh cluster and its log of commits.
CLUSTER_BYTES = 128 * MIB
# What building took on slow and on fast devices lies on both sides of it.
BUILT_BYTES_PER_S = 150 * MIB
START_NS = 2 * S


@dataclasses.dataclass(frozen=True, slots=True)
class DatabaseBudget:
    """What measuring through a database spends."""

    table_bytes: int
    blocks: int
    warm_up_ns: int
    window_ns: int
    sessions: tuple[int, ...]
    committers: tuple[int, ...]
    scanned_bytes: int

    def table_bytes_within(self, file_bytes: int) -> int:
        """Of the table: no larger than the file on which the device itself is measured."""
        return min(self.table_bytes, file_bytes) // PAGE_BYTES * PAGE_BYTES


QUICK = DatabaseBudget(
    table_bytes=512 * MIB,
    blocks=6,
    warm_up_ns=30 * MS,
    window_ns=150 * MS,
    sessions=SESSIONS,
    committers=(1, 8),
    scanned_bytes=128 * MIB,
)
STANDARD = dataclasses.replace(
    QUICK, table_bytes=2 * GIB, blocks=10, window_ns=300 * MS, committers=(1, 2, 4, 8), scanned_bytes=512 * MIB
)
FULL = dataclasses.replace(STANDARD, table_bytes=8 * GIB, blocks=20, window_ns=500 * MS, scanned_bytes=GIB)
DATABASE_BUDGETS = {"quick": QUICK, "standard": STANDARD, "full": FULL}


def memory_bytes(table_bytes: int) -> int:
    """`shared_buffers` of a server of our own."""
    return max(table_bytes // TABLE_TIMES_MEMORY, LEAST_MEMORY_BYTES)


def building_ns(table_bytes: int) -> int:
    """About how long the server takes until the table is there."""
    return START_NS + table_bytes * S // BUILT_BYTES_PER_S
