"""An arm against its baseline."""

from __future__ import annotations

import dataclasses

from dbdyno.analysis.findings.estimates import Estimate
from dbdyno.analysis.findings.stacks import StackDifference

# An arm or a baseline that did not do what its name says is a comparison of something else: no verdict.
WITHHOLDING = frozenset({"check", "deviation"})


@dataclasses.dataclass(frozen=True, slots=True)
class Reason:
    """One part of a profile and how much it changed per unit of work, arm minus baseline.

    Per row instead, where the metric is `rows_per_s`.
    `difference` is the same with its interval over blocks; `told`: it is not zero, tested over all parts at once.
    Only such a part is a reason. `baseline_share` is the part's share of the baseline's response time.
    """

    part: str
    baseline_ns: float
    arm_ns: float
    difference_ns: float
    difference: Estimate
    p_value: float | None
    told: bool
    baseline_share: float


@dataclasses.dataclass(frozen=True, slots=True)
class Comparison:
    """An arm against its baseline: the ratio arm / baseline of one metric.

    `ratio_90` is the same ratio with its 90 % interval, which decides "same".
    `limited_by` holds the codes of those warnings that a reader of the verdict must see beside it.
    """

    arm: str
    baseline: str
    metric: str
    ratio: Estimate
    ratio_90: Estimate
    p_value: float | None
    p_value_holm: float | None
    verdict: str
    blocks_needed: int | None
    block_ratios: list[float]
    why: list[Reason]
    limited_by: list[str]
    stacks: StackDifference | None = None

    @property
    def withheld(self) -> bool:
        """Whether there is no verdict, however much was measured: an arm did not do what its name says."""
        return not WITHHOLDING.isdisjoint(self.limited_by)
