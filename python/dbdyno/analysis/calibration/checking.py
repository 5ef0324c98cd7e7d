"""What must hold if the figures are to be believed."""

from __future__ import annotations

from collections.abc import Sequence

from dbdyno.analysis.calibration.findings import Check
from dbdyno.analysis.documents import Document

LITTLE_TOLERANCE = 0.05
KERNEL_TOLERANCE = 0.02
# Windows with fewer I/Os than this many times the depth lose too much at their edges for a check.
LEAST_TURNS = 20


def checks(entries: Sequence[Document], *, direct: bool) -> tuple[Check, ...]:
    """Little's law in each cell, and the kernel's counters over all of them."""
    found = (_little(entries), _kernel(entries) if direct else None)
    return tuple(one for one in found if one is not None)


def _little(entries: Sequence[Document]) -> Check | None:
    """N = X R: the mean number in flight is the throughput times the mean response time."""
    off = [
        abs(outcome["response_time"]["sum_ns"] / outcome["window_ns"] / outcome["concurrency"] - 1)
        for outcome in (entry["outcome"] for entry in entries if entry["work"].get("load"))
        if outcome["concurrency"] and outcome["reads"] + outcome["writes"] > LEAST_TURNS * outcome["concurrency"]
    ]
    if not off:
        return None
    beyond = sum(share > LITTLE_TOLERANCE for share in off)
    seen = f"{len(off) - beyond} of {len(off)} cells within {LITTLE_TOLERANCE:.0%}, at most {max(off):.1%} off"
    return Check("Little's law", beyond <= 0.01 * len(off), seen)


def _kernel(entries: Sequence[Document]) -> Check | None:
    """What we asked for is what the device was asked for; in bytes, since the kernel may split large requests."""
    asked = read = 0
    for entry in entries:
        if entry["kernel"] is not None and entry["work"].get("load") and not entry["work"]["write_share"]:
            asked += entry["outcome"]["reads_in_all"] * entry["work"]["io_bytes"]
            read += entry["kernel"]["read_bytes"]
    if not asked:
        return None
    ratio = read / asked
    return Check("the kernel's counters", abs(ratio - 1) <= KERNEL_TOLERANCE, f"{ratio:.3f} times the bytes we read")
