"""Columns and groups that are compared with the planner's figures, the worst first: one order for the whole page."""

from __future__ import annotations

import dataclasses

from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.ndv.findings import (
    RIGHT,
    WRONG,
    WRONG_AND_MATTERS,
    ColumnFindings,
    GroupFindings,
    NdvFindings,
    Prediction,
)
from dbdyno.report.ndv.words import counts_of

_RANKS = (WRONG_AND_MATTERS, WRONG, RIGHT)


@dataclasses.dataclass(frozen=True, slots=True)
class Judged:
    """One of them; `off` is the planner's count over the true one, below 1 where that is too low."""

    name: str
    one: ColumnFindings | GroupFindings
    off: Estimate

    @property
    def is_right(self) -> bool:
        """Whether there is nothing to mend."""
        return self.one.verdict == RIGHT

    def predicted(self) -> list[tuple[Prediction, float]]:
        """What ANALYZE would say, and how far that is off, as `off` is."""
        predictions = self.one.analyze if isinstance(self.one, ColumnFindings) else []
        return [(each, _signed(each.error_factor, low=each.ndv < self.one.ndv.estimate)) for each in predictions]


def judged(found: NdvFindings) -> list[Judged]:
    """What matters before what does not, and then by the error factor."""
    every = [Judged(name, one, off) for name, one in counts_of(found) if (off := _off(one)) is not None]
    return sorted(every, key=lambda each: (_RANKS.index(each.one.verdict), -(each.one.error_factor or 1.0)))


def _off(one: ColumnFindings | GroupFindings) -> Estimate | None:
    if one.error_factor is None or one.planner is None or one.verdict not in _RANKS:
        return None
    low = one.planner < one.ndv.estimate
    ends = [
        None if end is None else _signed(end, low=low)
        for end in (one.error_factor_low, one.error_factor, one.error_factor_high)
    ]
    first, estimate, last = reversed(ends) if low else ends
    return Estimate(estimate or 1.0, first, last)


def _signed(factor: float, *, low: bool) -> float:
    return 1.0 / factor if low else factor
