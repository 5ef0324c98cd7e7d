"""Cells one after another into the record, as long as the foreground wants it and the byte budget lasts.

They run block by block, with the commits between the blocks of the others.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from dbdyno.calibration.cells import Cell, Planned
from dbdyno.calibration.spending import Spending
from dbdyno.calibration.storage import Document, Storage
from dbdyno.errors import DynoError

# The phase of an entry that was ended within its window: its bytes count, its figures do not.
CUT_SHORT = "cut_short"
# Between two looks at whether it is enough.
LOOK_EVERY_BLOCKS = 4


class Foreground(Protocol):
    """Who watches."""

    def begin(self, what: str, left_ns: int) -> None:
        """This is next, and so much is left."""
        ...

    def go_on(self) -> bool:
        """Whether to."""
        ...


def blocks_of(planned: Iterable[Planned]) -> list[list[Planned]]:
    """What is planned of one phase, block by block."""
    return [list(block) for _, block in itertools.groupby(planned, key=lambda one: one.block)]


@dataclasses.dataclass(slots=True)
class Beside:
    """Commits are short, and what moves a device lasts longer than all of them: so they are spread over the others."""

    commits: Sequence[list[Planned]]
    blocks: int
    done: int = 0
    passed: int = 0

    def next(self) -> list[Planned]:
        """Those that are due after one more block of the others."""
        self.passed += 1
        return self._until(len(self.commits) * self.passed // max(self.blocks, 1))

    def rest(self) -> list[Planned]:
        """Those that are left."""
        return self._until(len(self.commits))

    def _until(self, place: int) -> list[Planned]:
        due = [one for block in self.commits[self.done : place] for one in block]
        self.done = max(self.done, place)
        return due


@dataclasses.dataclass(frozen=True, slots=True)
class Measured:
    """The entries of a record, and what ended it if storage failed."""

    entries: list[Document]
    failed: DynoError | None


class Run:
    """What has been measured, and what is left."""

    def __init__(
        self,
        files: Mapping[str, Storage],
        foreground: Foreground,
        spending: Spending | None,
        planned: Sequence[Planned],
    ) -> None:
        """All that is `planned` is known from the start: how long it takes, and how many bytes commits need."""
        self.entries: list[Document] = []
        self.beside = Beside([], 0)
        # What storage said when it failed: nothing runs after it, and what was measured is kept.
        self.failed: DynoError | None = None
        self._files, self._foreground = files, foreground
        self._spending = spending or Spending.without_end()
        self._spending.plan(planned)
        self._left_ns = sum(one.expected_ns for one in planned)

    @property
    def measured(self) -> Measured:
        """What came of it."""
        return Measured(self.entries, self.failed)

    def all_of(self, planned: Iterable[Planned]) -> None:
        """Run what is planned, in its order."""
        for one in planned:
            if self.failed is not None or not self._foreground.go_on():
                return
            self._foreground.begin(one.phase, self._left_ns)
            self._left_ns -= one.expected_ns
            if self._spending.allows(one):
                try:
                    self.entries.append(self._entry(one))
                except DynoError as error:
                    self.failed = error

    def at_once(self, planned: Sequence[Planned]) -> None:
        """Run these at the same time, each on its file; what the kernel counts meanwhile is of all of them."""
        if not planned or self.failed is not None or not self._foreground.go_on():
            return
        self._foreground.begin(planned[0].phase, self._left_ns)
        self._left_ns -= sum(one.expected_ns for one in planned)
        allowed = [one for one in planned if self._spending.allows(one)]
        try:
            with ThreadPoolExecutor(max(1, len(allowed))) as threads:
                self.entries += [entry | {"kernel": None} for entry in threads.map(self._entry, allowed)]
        except DynoError as error:
            self.failed = error

    def blocks(
        self, planned: Sequence[Planned], least: int | None = None, is_enough: Callable[[], bool] = lambda: False
    ) -> None:
        """Block after block, with commits between them, until it is enough."""
        every = blocks_of(planned)
        for done, block in enumerate(every):
            looks = least is not None and done >= least and (done - least) % LOOK_EVERY_BLOCKS == 0
            if looks and self._foreground.go_on() and is_enough():
                self._left_ns -= sum(one.expected_ns for rest in every[done:] for one in rest)
                return
            self.all_of(block)
            self.all_of(self.beside.next())

    def _entry(self, planned: Planned) -> Document:
        foreground, spending = self._foreground, self._spending
        entry = self._files[planned.file].run(planned, lambda: foreground.go_on() and spending.within())
        wanted, within = foreground.go_on(), spending.within()
        spending.spent(planned, entry["read_bytes"] + entry["written_bytes"], cut=wanted and not within)
        if isinstance(planned.work, Cell) and not (wanted and within):
            entry["level"] |= {"phase": entry["phase"]}
            entry["phase"] = CUT_SHORT
        return entry
