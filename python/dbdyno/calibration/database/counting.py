"""What was counted while a level ran: by the server, of its processes by the kernel, and of the device.

A "read" of the server is a page that it asked the kernel for. Whether the storage was asked is known to the kernel
only: it counts for each process what it had read from there, and for each device what it was asked by anybody.
"""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import Any

from dbdyno.calibration.database.table import TABLE
from dbdyno.probes.device import DeviceCounts, device_work, read_device_counts
from dbdyno.probes.process_work import children_of, disk_read_bytes_of_family
from dbdyno.targets.counters import differences
from dbdyno.targets.target import Target

# A backend leaves the server's own list before its parent has collected it, and then its reads. On a loaded machine
# that takes as long as it takes; what lives on beyond the limit is somebody else's.
COLLECTED_LIMIT_S, LOOK_EVERY_S = 1.0, 0.002

_PAGES = (
    "SELECT coalesce(heap_blks_read, 0) AS table_reads, coalesce(heap_blks_hit, 0) AS table_hits,"
    " coalesce(idx_blks_read, 0) AS index_reads, coalesce(idx_blks_hit, 0) AS index_hits"
    f" FROM pg_statio_all_tables WHERE relid = to_regclass('{TABLE}')"
)


@dataclasses.dataclass(frozen=True, slots=True)
class Counts:
    """All counters at one moment; None where they cannot be read."""

    server: dict[str, int]
    pages: dict[str, int]
    storage_read_bytes: int | None
    device: DeviceCounts | None


class Counter:
    """Counts what a level makes a server do: `begin`, run it, `end`."""

    def __init__(self, target: Target, block_device: Path | None) -> None:
        self._target, self._block_device = target, block_device
        self._children: set[str] = set()
        self._before: Counts | None = None

    def begin(self) -> None:
        """Nothing but the level follows."""
        server, pages = self._target.counters(), self._pages()
        self._children = self._living()
        self._before = Counts(server, pages, *self._kernel())

    def end(self) -> dict[str, Any]:
        """What the level made of the counters, as the cell's record has it."""
        assert self._before is not None
        limit = time.monotonic() + COLLECTED_LIMIT_S
        while self._living() - self._children and time.monotonic() < limit:
            time.sleep(LOOK_EVERY_S)
        before, kernel = self._before, self._kernel()
        after = Counts(self._target.counters(), self._pages(), *kernel)
        device = None
        if self._block_device is not None and before.device is not None and after.device is not None:
            device = device_work(self._block_device, before.device, after.device)
        known = before.storage_read_bytes is not None and after.storage_read_bytes is not None
        return {
            "server": differences(before.server, after.server),
            "pages": {name: after.pages[name] - before.pages[name] for name in after.pages},
            "storage_read_bytes": (after.storage_read_bytes or 0) - (before.storage_read_bytes or 0) if known else None,
            "kernel": device,
        }

    def _kernel(self) -> tuple[int | None, DeviceCounts | None]:
        pid, block = self._target.postmaster_pid, self._block_device
        return (
            None if pid is None else disk_read_bytes_of_family(pid),
            None if block is None else read_device_counts(block),
        )

    def _living(self) -> set[str]:
        pid = self._target.postmaster_pid
        return set() if pid is None else set(children_of(pid) or ())

    def _pages(self) -> dict[str, int]:
        with self._target.connect() as session:
            cursor = session.execute(_PAGES.encode())
            names = [column.name for column in cursor.description or ()]
            return dict(zip(names, cursor.fetchone() or (0,) * len(names), strict=True))
