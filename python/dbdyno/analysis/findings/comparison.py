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


@dataclasses.dataclass(frozen=True, slots=True)
class Exploratory:
    """A pair on a metric that the run did not name: a hint for the next experiment, not a verdict.

    `told`: different from no difference, with at most 5 % of false alarms among all that are told (`p_value_bh`).
    """

    arm: str
    baseline: str
    metric: str
    higher_is_better: bool
    ratio: Estimate
    p_value: float | None
    p_value_bh: float | None
    told: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Interaction:
    """The effect of an arm over that of the arm with the same change under another level: `ratio` is between the two.

    `ratio` = (arm / baseline) / (other_arm / other_baseline); `told`: it is not 1, after Holm over all of these.
    """

    arm: str
    baseline: str
    other_arm: str
    other_baseline: str
    metric: str
    ratio: Estimate
    p_value: float | None
    p_value_holm: float | None
    told: bool


@dataclasses.dataclass(frozen=True, slots=True)
class FalseAlarms:
    """Null arms of this machine's runs, this one included, and how many of them were called different.

    Chance alone would call `expected_least` to `expected_most` of them so, in 95 of 100 such histories.
    """

    runs: int
    different: int
    expected_least: int
    expected_most: int


@dataclasses.dataclass(frozen=True, slots=True)
class NullArm:
    """A second copy of its baseline; `different` is a false alarm."""

    arm: str
    baseline: str
    metric: str
    ratio: Estimate
    p_value: float
    different: bool
    on_this_machine: FalseAlarms


@dataclasses.dataclass(frozen=True, slots=True)
class Stopping:
    """When the run was looked at: after so many blocks, or, where `looks` is empty, after each.

    `decided_early`: it stopped before its last block, because every comparison was decided.
    """

    until_decided: bool
    looks: list[int]
    looked_at: list[int]
    decided_early: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Outlook:
    """What a run will be able to tell, from its first blocks.

    `smallest_effect`, as a share, is found in 4 of 5 runs of `blocks` blocks; `blocks_for_margin` would find one of the
    margin's size as often, None: more than a thousand.
    """

    blocks_so_far: int
    blocks: int
    comparisons: int
    smallest_effect: float
    margin: float
    within_reach: bool
    blocks_for_margin: int | None


@dataclasses.dataclass(frozen=True, slots=True)
class Pilot:
    """A pilot's figures; `outlook` is None where it has too few complete blocks.

    `seconds_per_trial` is from one trial's start to the next, in the median; `seconds` of all trials of the run.
    `schema_bytes` is what the tables and indexes take once built, `wal_bytes` what all trials write into the WAL by the
    server's count; each None where the server does not say.
    """

    seconds_per_trial: float
    seconds: float
    schema_bytes: int | None
    wal_bytes: int | None
    outlook: Outlook | None
