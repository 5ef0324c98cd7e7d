"""What must hold if the figures are to be believed."""

from __future__ import annotations

from collections.abc import Sequence

from dbdyno.analysis.calibration.findings import Check
from dbdyno.analysis.documents import Document

LITTLE_TOLERANCE = 0.05
KERNEL_TOLERANCE = 0.02
# Of the cells; beyond this it is no chance.
MOST_BEYOND = 0.01
# Windows with fewer I/Os than this many times the depth lose too much at their edges for a check.
LEAST_TURNS = 20


def checks(entries: Sequence[Document], *, direct: bool) -> tuple[Check, ...]:
    """Little's law in each cell, and the kernel's counters over all of them."""
    found = (_little(entries), _kernel(entries) if direct else None)
    return tuple(one for one in found if one is not None)


def _little(entries: Sequence[Document]) -> Check | None:
    """N = X R: the mean number in flight is the throughput times the mean response time.

    An I/O that is under way at an edge of the window counts whole on one side of the equation and in part on the other.
    So a cell may be off by what its longest I/O takes of the time that all of them take, for each that is in flight.
    """
    outcomes = [
        outcome
        for outcome in (entry["outcome"] for entry in entries if entry["work"].get("load"))
        if outcome["concurrency"] and outcome["reads"] + outcome["writes"] > LEAST_TURNS * outcome["concurrency"]
    ]
    if not outcomes:
        return None
    off = [_off(outcome) for outcome in outcomes]
    held = sum(one <= max(LITTLE_TOLERANCE, _edge(outcome)) for one, outcome in zip(off, outcomes, strict=True))
    within = sum(one <= LITTLE_TOLERANCE for one in off)
    seen = f"{within} of {len(off)} cells within {LITTLE_TOLERANCE:.0%}, at most {max(off):.1%} off"
    if held > within:
        seen += f"; {held - within} more by no more than an I/O at the edge of the window explains"
    return Check("Little's law", len(off) - held <= MOST_BEYOND * len(off), seen)


def _off(outcome: Document) -> float:
    found: float = abs(outcome["response_time"]["sum_ns"] / outcome["window_ns"] / outcome["concurrency"] - 1)
    return found


def _edge(outcome: Document) -> float:
    longest_ns: int = max(outcome["series"]["response_time_max_ns"])
    share: float = longest_ns / outcome["window_ns"] / min(outcome["concurrency"], 1.0)
    return share


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
