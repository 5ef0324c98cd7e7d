"""What is run in which order: every level of every arm once a block.

An arm is a way to read: the device itself, the server as it is, the server past the page cache. The last two are the
same server started with other settings, so within a block the levels of an arm stand together. The second block of
each two has the arms in the opposite order: in the mean none comes earlier than another, and the server is restarted
once a block.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator, Mapping, Sequence

from dbdyno.calibration.budget import MS, S
from dbdyno.calibration.database.budget import DatabaseBudget

READS, SCAN, COMMITS = "reads", "scan", "commits"
# What a cell takes beside its window: processes that begin and end, counters, a page cache that is emptied.
BESIDE_NS, BESIDE_SESSION_NS = 150 * MS, 4 * MS
RESTART_NS = S


@dataclasses.dataclass(frozen=True, slots=True)
class Arm:
    """A way to read: server settings, or None for the device itself."""

    name: str
    settings: Mapping[str, str] | None

    @property
    def is_device(self) -> bool:
        """Whether there is no server in between."""
        return self.settings is None


DEVICE = Arm("device", None)
BUFFERED = Arm("buffered", {})
DIRECT = Arm("direct", {"debug_io_direct": "data"})


@dataclasses.dataclass(frozen=True, slots=True)
class Level:
    """So many sessions that do one thing."""

    kind: str
    sessions: int


def levels_of(budget: DatabaseBudget, arm: Arm, writing: Arm) -> list[Level]:
    """Commits do not read, so one arm of the server has them, beside the device."""
    found = [Level(READS, sessions) for sessions in budget.sessions] + [Level(SCAN, 1)]
    if arm.is_device or arm == writing:
        found += [Level(COMMITS, sessions) for sessions in budget.committers]
    return found


def blocks_of(budget: DatabaseBudget, arms: Sequence[Arm], seed: int) -> Iterator[tuple[int, Arm, Level]]:
    """(block, arm, level) in the order of the schedule."""
    draw = random.Random(seed)
    writing = next(arm for arm in arms if not arm.is_device)
    order = list(arms)
    for block in range(budget.blocks):
        order = draw.sample(order, len(order)) if block % 2 == 0 else order[::-1]
        for arm in order:
            levels = levels_of(budget, arm, writing)
            for level in draw.sample(levels, len(levels)):
                yield block, arm, level


def expected_ns(budget: DatabaseBudget, arm: Arm, level: Level) -> int:
    """About how long a level takes."""
    if arm.is_device:
        return budget.window_ns
    return budget.warm_up_ns + budget.window_ns + BESIDE_NS + level.sessions * BESIDE_SESSION_NS


def expected_in_all_ns(budget: DatabaseBudget, arms: Sequence[Arm]) -> int:
    """Of all blocks."""
    cells = sum(expected_ns(budget, arm, level) for _, arm, level in blocks_of(budget, arms, seed=0))
    return cells + budget.blocks * RESTART_NS
