"""An index weighed."""

from __future__ import annotations

import dataclasses

from dbdyno.analysis.findings.estimates import Estimate


@dataclasses.dataclass(frozen=True, slots=True)
class IndexBenefit:
    """What an index gives one kind of transaction: the ratio of its mean response time without it to that with it.

    `under` are the levels of the other factors; None where there are none.
    `verdict`: `slower` (significant after Holm's correction, and at least the margin), `not slower` (the 90 % interval
    ends below the margin) or `open`.
    """

    under: str | None
    script: str
    ratio: Estimate
    p_value: float | None
    p_value_holm: float | None
    verdict: str

    @property
    def slower(self) -> bool:
        """Whether this kind of transaction needs the index."""
        return self.verdict == "slower"


@dataclasses.dataclass(frozen=True, slots=True)
class IndexCost:
    """What an index costs: one figure with and without it.

    `change` is the ratio without / with where `relative`, else the difference of two shares, without - with.
    `saved`: without the index it is better, significantly after Holm's correction and beyond the threshold.
    """

    under: str | None
    figure: str
    with_index: float
    without_index: float
    relative: bool
    change: Estimate
    p_value_holm: float | None
    saved: bool


@dataclasses.dataclass(frozen=True, slots=True)
class IndexVerdict:
    """One index weighed: `keep`, `drop` or `no evidence`.

    `benefits` has the kinds of transactions that use it, the most harmed first; none for one that no trial scanned.
    `scans_per_unit` is of the trials with it; None where the server was not asked.
    `sql` drops it, `undo` brings it back.
    """

    index: str
    table: str
    definition: str
    bytes: int
    verdict: str
    scans_per_unit: float | None
    benefits: list[IndexBenefit]
    costs: list[IndexCost]
    blocks_needed: int | None
    sql: str
    undo: str
