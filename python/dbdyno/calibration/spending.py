"""The byte budget: what may be read and written in all, and what it left out.

Commits move few bytes, and how many is known before: so much is kept back for them, or the first large reads would
leave nothing for them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable

from dbdyno.calibration.budget import S
from dbdyno.calibration.cells import Cell, Flushes, Planned

# A burst that is cut short says nothing, so a cell this long may take half of what is left, and not all of it.
LONG_NS = S


class Spending:
    """Counts bytes against the most that there may be.

    Args:
        most_bytes: None for as many as it takes.
        spent_bytes: what was moved before the first cell.
        moved_bytes: what this process has moved since it began, None where the kernel does not say: a cell that goes
            on beyond the budget is then ended only when it ends.
    """

    def __init__(self, most_bytes: int | None, spent_bytes: int, moved_bytes: Callable[[], int | None]) -> None:
        self._most_bytes = math.inf if most_bytes is None else most_bytes
        self._spent_bytes = spent_bytes
        self._kept_back = 0
        self._moved_bytes = moved_bytes
        # None while nothing runs that could be ended.
        self._moved_before: int | None = None
        self._may_move: float = math.inf
        self._planned: Counter[str] = Counter()
        self._left_out: Counter[str] = Counter()

    @classmethod
    def without_end(cls) -> Spending:
        """As many bytes as it takes."""
        return cls(None, 0, lambda: None)

    def plan(self, planned: Iterable[Planned]) -> None:
        """All that is to be run."""
        for one in planned:
            self._planned[one.phase] += 1
            self._kept_back += _known_bytes(one)

    def allows(self, one: Planned) -> bool:
        """Whether this one may run; it is left out where not."""
        known_bytes = _known_bytes(one)
        if known_bytes or self._spent_bytes + self._kept_back < self._most_bytes:
            self._kept_back -= known_bytes
            self._moved_before = None if known_bytes else self._moved_bytes()
            left = self._most_bytes - self._kept_back - self._spent_bytes
            self._may_move = left / 2 if isinstance(one.work, Cell) and one.work.window_ns >= LONG_NS else left
            return True
        self._left_out[one.phase] += 1
        return False

    def within(self) -> bool:
        """Whether what runs now may go on."""
        if math.isinf(self._may_move) or self._moved_before is None:
            return True
        return (self._moved_bytes() or 0) - self._moved_before <= self._may_move

    def spent(self, one: Planned, bytes_: int, *, cut: bool) -> None:
        """This one has run, or was cut short, and moved so many bytes."""
        self._spent_bytes += bytes_
        self._left_out[one.phase] += cut

    @property
    def left_out(self) -> str | None:
        """Which cells, in words; None where all were run."""
        found = [
            f"{count} of {self._planned[phase]} cells of {phase}" for phase, count in self._left_out.items() if count
        ]
        return ", ".join(found) or None


def _known_bytes(one: Planned) -> int:
    """What it writes, of commits; 0 where only the device knows."""
    work = one.work
    return work.writers * work.commits * work.io_bytes if isinstance(work, Flushes) else 0
