"""What the live view of a server shows at one moment: plain frozen dataclasses, all that its drawing may look at.

Figures of time are average numbers of sessions: one session that was active all the time is 1.
"""

from __future__ import annotations

import dataclasses

SORTS = ("time", "snapshots", "name")


@dataclasses.dataclass(frozen=True, slots=True)
class Line:
    """One line of a table. `key` tells it apart, `name` is printed, `beside` is what mostly goes with it."""

    key: str
    name: str
    sessions: float
    share: float
    snapshots: int
    beside: str = ""
    selected: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Table:
    """Lines in the chosen order; `beside` names the last column, empty where there is none."""

    title: str
    beside: str
    lines: tuple[Line, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class BlockedLine:
    """A session in the tree of who waits for whom; `depth` 0 waits for nobody.

    `doing` is its state and wait event, `lock` what it waits for, `blocked` how many wait below it.
    """

    depth: int
    pid: int
    who: str
    doing: str
    lock: str | None
    blocked: int


@dataclasses.dataclass(frozen=True, slots=True)
class LiveView:
    """The whole picture.

    `classes` are of the last step, the greatest first; `course` is the sum of each of the last steps, oldest first.
    `window_steps` is how many steps the tables cover. `into` is the event or query that is looked into, else None.
    """

    steps: int
    active_sessions: float
    idle_in_transaction: float
    cpus: int | None
    classes: tuple[tuple[str, float], ...]
    course: tuple[float, ...]
    window_steps: int
    tables: tuple[Table, ...]
    blocked: tuple[BlockedLine, ...]
    into: str | None
    sort: str
    paused: bool
