"""How long the waits for each event were, over time: from the transitions that the snapshots saw."""

from __future__ import annotations

from collections import Counter

from dbdyno.analysis.documents import Document
from dbdyno.analysis.server_profile.findings import HeatMap, Wait

BINS_PER_DECADE = 10
MOST_MAPS = 12
# A chart has no room for more columns; longer profiles have some steps in one.
MOST_COLUMNS = 120


def heat_maps(watch: Document, waits: list[Wait]) -> list[HeatMap]:
    """Those of the greatest waits, the greatest first."""
    counts: dict[str, Counter[tuple[int, int]]] = {}
    together = -(-len(watch["steps"]) // MOST_COLUMNS) if watch["steps"] else 1
    for place, step in enumerate(watch["steps"]):
        for event, length, count in step["episodes"]:
            counts.setdefault(watch["events"][event], Counter())[place // together, length] += count
    found = []
    for event in (wait.event for wait in waits if wait.event in counts):
        lengths: Counter[int] = Counter()
        for (_, length), count in counts[event].items():
            lengths[length] += count
        found.append(
            HeatMap(
                event=event,
                step_ns=_step_ns(watch) * together,
                steps=-(-len(watch["steps"]) // together),
                bins_per_decade=BINS_PER_DECADE,
                shortest_ns=float(watch["period_ns"] or 0),
                count=lengths.total(),
                median_ns=_middle_ns(_median_bin(lengths)),
                longest_ns=_middle_ns(max(lengths)),
                cells=[[step, length, count] for (step, length), count in sorted(counts[event].items())],
            )
        )
    return found[:MOST_MAPS]


def _step_ns(watch: Document) -> int:
    lengths = sorted(step["to_ns"] - step["from_ns"] for step in watch["steps"])
    return int(lengths[len(lengths) // 2])


def _median_bin(lengths: Counter[int]) -> int:
    half = lengths.total() / 2
    below = 0
    for length in sorted(lengths):
        below += lengths[length]
        if below >= half:
            return length
    raise AssertionError("a heat map without waits")


def _middle_ns(length_bin: int) -> float:
    """The geometric middle of a bin."""
    return float(10 ** ((length_bin + 0.5) / BINS_PER_DECADE))
