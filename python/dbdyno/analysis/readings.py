"""How the log ratios of a run may be read, which depends on when one looks.

    reading = reading_of(run, blocks)         # so many blocks are complete
    reading.p_value(logs), reading.interval(logs, 0.95)

A p value below 0.05 means the same in each: with such a reading, a run is called different by chance in 5 of 100.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Protocol

from dbdyno.analysis import e_process, signed_rank
from dbdyno.analysis.documents import Document
from dbdyno.analysis.spending import level, repeated_p_value


class Reading(Protocol):
    """A test of "no difference" and the interval that goes with it; None where the blocks are too few."""

    def p_value(self, differences: Sequence[float]) -> float | None:
        """Two-sided, of all looks together."""

    def interval(self, differences: Sequence[float], confidence: float) -> tuple[float, float] | None:
        """What holds the truth at all looks together."""


@dataclasses.dataclass(frozen=True, slots=True)
class AtLook:
    """The exact signed-rank test at the last of `looks`; with one look at the end nothing is corrected."""

    looks: tuple[int, ...]
    planned: int

    def p_value(self, differences: Sequence[float]) -> float | None:
        """That of the test, and of the plan if it looks before its end."""
        found = signed_rank.p_value(differences)
        return None if found is None else repeated_p_value(found, self.looks, self.planned)

    def interval(self, differences: Sequence[float], confidence: float) -> tuple[float, float] | None:
        """At the level that this look has: wider the earlier it is."""
        return signed_rank.interval(differences, 1.0 - level(1.0 - confidence, self.looks, self.planned))


class AtAnyTime:
    """The e-process: valid after every block."""

    def p_value(self, differences: Sequence[float]) -> float | None:
        """In the order of the blocks."""
        return e_process.p_value(differences)

    def interval(self, differences: Sequence[float], confidence: float) -> tuple[float, float] | None:
        """In the order of the blocks."""
        return e_process.interval(differences, confidence)


def planned_looks(run: Document) -> list[int]:
    """After which blocks a run is looked at; the last of them is its end."""
    return list(run.get("looks") or [run["blocks"]])


def reading_of(run: Document, blocks: int) -> Reading:
    """How a run with so many complete blocks may be read.

    A run that ended elsewhere than at a look, because it was interrupted or blocks were given up, is read as if that
    had been one look more: it may spend what is allowed until there, and no more.
    """
    if run.get("until_decided"):
        return AtAnyTime()
    passed = [look for look in planned_looks(run) if look < blocks]
    return AtLook((*passed, blocks), max(run["blocks"], blocks))


def whole(blocks: int) -> Reading:
    """All blocks, looked at once."""
    return AtLook((blocks,), blocks)
