"""Small bars in tables: as long as a row's share of the longest, and split as a profile is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from dbdyno.report.html.palette import Fill
from dbdyno.report.html.table import Piece
from dbdyno.report.numbers import percent

NAMED_PARTS = 3
# A thinner piece is not seen.
THINNEST_PERCENT = 0.4


class SmallBars:
    """The bars of one table, all to the scale of its longest; `fills` are in stacking order."""

    def __init__(self, fills: Mapping[str, Fill], rows: Sequence[Mapping[str, float]]) -> None:
        self._fills = fills
        self._longest = max((sum(ns for ns in row.values() if ns > 0) for row in rows), default=0.0)

    def of(self, parts: Mapping[str, float]) -> list[Piece]:
        """The pieces of one bar."""
        return list(self._pieces(parts)) if self._longest > 0 else []

    def _pieces(self, parts: Mapping[str, float]) -> Iterator[Piece]:
        start = 0.0
        for part, fill in self._fills.items():
            width = 100 * max(0.0, parts.get(part, 0.0)) / self._longest
            if width >= THINNEST_PERCENT:
                yield Piece(fill, start, width)
            start += width


def longest_words(parts: Mapping[str, float], name: Callable[[str], str]) -> str:
    """The greatest parts in words, as in `LWLock:WALWrite 52 %, CPU 20 %`; `name` says how a part is called."""
    total = sum(parts.values())
    longest = sorted(parts.items(), key=lambda part: -part[1])[:NAMED_PARTS]
    return ", ".join(f"{name(part)} {percent(ns / total)}" for part, ns in longest if ns > 0 and total > 0)
