"""Stalls: times in which nothing ended although something was asked for.

A closed loop of n shows one as n slow I/Os, which no percentile sees; a load that does not wait has as many late ones
as come meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence

from dbdyno.analysis.calibration.findings import Stall
from dbdyno.analysis.documents import Document

# A rotating disk that seeks, recalibrates or corrects an error answers within a third of a second; a user waits.
LEAST_STALL_NS = 300_000_000
# And so many times as long as the I/Os of the cell are apart: large reads of a slow device are no stall.
LEAST_GAPS = 20


def stalls(entries: Sequence[Document]) -> tuple[Stall, ...]:
    """Each cell's longest one, in the order of time, and each slow flush."""
    return tuple(Stall(entry["phase"], silence_ns, rate) for entry in entries for silence_ns, rate in _silences(entry))


def _silences(entry: Document) -> list[tuple[int, float]]:
    outcome = entry["outcome"]
    if "load" not in entry["work"]:
        rate = len(outcome["times_ns"]) / outcome["elapsed_ns"] * 1e9
        slow = [time_ns for time_ns in outcome["times_ns"] if time_ns >= LEAST_STALL_NS]
        return [(max(slow), rate)] if slow else []
    silence_ns, ios = outcome["longest_silence_ns"], outcome["reads_in_all"] + outcome["writes_in_all"]
    # Without the silence itself: what the load does when it is let.
    busy_ns = max(outcome["elapsed_ns"] - silence_ns, 1)
    is_stall = silence_ns >= max(LEAST_STALL_NS, LEAST_GAPS * busy_ns / max(ios, 1))
    return [(silence_ns, ios / busy_ns * 1e9)] if is_stall else []
