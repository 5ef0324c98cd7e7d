"""The flags of `dbdyno ndv`, as what counts takes them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence


@dataclasses.dataclass(frozen=True, slots=True)
class Wish:
    """What to count, how, and which statements to plan with the fix."""

    tables: Sequence[str]
    columns: str | None
    groups: Sequence[str]
    where: str | None
    via: str
    connections: int
    precision: int
    what_if: Sequence[str]
    top: int

    @property
    def about_one_table(self) -> list[str]:
        """The flags that were given and make sense for one table alone."""
        given = {
            "--columns": self.columns is not None,
            "--group": bool(self.groups),
            "--where": self.where is not None,
            "--what-if": bool(self.what_if),
            "--top-statements": self.top > 0,
        }
        return [flag for flag, is_given in given.items() if is_given]
