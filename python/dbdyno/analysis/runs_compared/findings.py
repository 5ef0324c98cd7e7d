"""What a comparison of runs concludes: plain frozen dataclasses, the only thing its reports may look at."""

from __future__ import annotations

import dataclasses

from dbdyno.analysis.findings import WITHHOLDING, Estimate, Warning

FORMAT = 1


@dataclasses.dataclass(frozen=True, slots=True)
class RunSummary:
    """One of the runs, in short; `label` is what the report calls it."""

    label: str
    run_id: str
    experiment: str
    experiment_file: str
    started_at: str
    seed: int
    blocks: int
    blocks_complete: int
    window_ns: int
    server_versions: list[str]
    host: str
    dbdyno: str


@dataclasses.dataclass(frozen=True, slots=True)
class ArmCompared:
    """The primary metric of one arm in both runs, and the ratio B / A from their trials as two independent samples.

    `ratio_90` is the same ratio with its 90 % interval, which decides "same".
    """

    arm: str
    levels: dict[str, str]
    baseline: str | None
    first: Estimate
    second: Estimate
    ratio: Estimate
    ratio_90: Estimate
    p_value: float | None
    p_value_holm: float | None
    verdict: str
    limited_by: list[str]

    @property
    def withheld(self) -> bool:
        """Whether there is no verdict: in one of the runs the arm did not do what its name says."""
        return not WITHHOLDING.isdisjoint(self.limited_by)


@dataclasses.dataclass(frozen=True, slots=True)
class EffectCompared:
    """The effect arm / baseline within each run, and the ratio of the two effects, B / A.

    `verdict` is about the effect: `better` means that the arm does its baseline more good in B than in A.
    """

    arm: str
    baseline: str
    first: Estimate
    second: Estimate
    ratio: Estimate
    ratio_90: Estimate
    p_value: float | None
    p_value_holm: float | None
    verdict: str
    limited_by: list[str]

    @property
    def withheld(self) -> bool:
        """Whether there is no verdict: in one of the runs arm or baseline did not do what its name says."""
        return not WITHHOLDING.isdisjoint(self.limited_by)


@dataclasses.dataclass(frozen=True, slots=True)
class Difference:
    """One thing that the records of two runs say differently; None where one of them does not say it.

    `group` is `machine`, `storage`, `server`, `settings`, `dbdyno`, `experiment` or `arms`; `unit` is `ns`, `bytes`,
    `sha256` (of a text) or empty. `measured`: a figure that is never twice the same, for which `ratio` is
    second / first.
    """

    group: str
    what: str
    first: str | float | None
    second: str | float | None
    unit: str = ""
    measured: bool = False
    ratio: float | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class LeftOut:
    """An arm that is not compared, and why."""

    arm: str
    reason: str


@dataclasses.dataclass(frozen=True, slots=True)
class Settling:
    """The interleaved experiment that would tell the runs' difference from the day's.

    `kind` is `server_bin`, `settings`, `target`, `levels` (a new factor, whose text is `toml`) or `repeat` (the same
    experiment once more), with so many `blocks`. `two_machines`: the runs were made on two hosts.
    """

    kind: str
    blocks: int
    factor: str | None
    toml: str | None
    two_machines: bool


@dataclasses.dataclass(frozen=True, slots=True)
class RunsComparison:
    """Two runs of an experiment, A and B, arm by arm.

    `worse` names the arms whose verdict trips `--gate`; `margin` is the smaller one of both runs.
    """

    format: int
    experiment: str
    metric: str
    higher_is_better: bool
    margin: float
    first: RunSummary
    second: RunSummary
    arms: list[ArmCompared]
    effects: list[EffectCompared]
    worse: list[str]
    left_out: list[LeftOut]
    differences: list[Difference]
    settling: Settling
    warnings: list[Warning]


@dataclasses.dataclass(frozen=True, slots=True)
class ArmHistory:
    """The primary metric of one arm in each run, None where the run does not have it."""

    arm: str
    levels: dict[str, str]
    baseline: str | None
    values: list[Estimate | None]


@dataclasses.dataclass(frozen=True, slots=True)
class Change:
    """What the record of one run says differently from the run before it."""

    before: str
    after: str
    differences: list[Difference]


@dataclasses.dataclass(frozen=True, slots=True)
class RunsHistory:
    """Runs in the order in which they were started, arm by arm."""

    format: int
    experiment: str
    metric: str
    higher_is_better: bool
    margin: float
    runs: list[RunSummary]
    arms: list[ArmHistory]
    changes: list[Change]
    left_out: list[LeftOut]
    warnings: list[Warning]
