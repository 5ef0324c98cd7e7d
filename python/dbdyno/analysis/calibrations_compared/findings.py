"""What a comparison of calibrations concludes: plain frozen dataclasses, the only thing its reports may look at."""

from __future__ import annotations

import dataclasses

from dbdyno.analysis.findings import Estimate, Warning
from dbdyno.analysis.runs_compared.findings import Change

FORMAT = 1

# Families for Holm, the main figures first.
MAIN, LOADS, LARGE, COMMITS, CACHE = "main figures", "small reads", "large reads", "commits", "cache"
FAMILIES = (MAIN, LOADS, LARGE, COMMITS, CACHE)

# Answers to "did the disk change?".
CHANGED, CHANGED_IN_PART, SAME = "changed", "changed_in_part", "same"
NOT_BEYOND_USUAL, ONE_EACH, NO_CONCLUSION = "not_beyond_usual", "one_each", "no_conclusion"


@dataclasses.dataclass(frozen=True, slots=True)
class FigureName:
    """Which figure: of which phase, which quantity, at which level (`{"depth": 8}`, `{"method": "fsync"}`)."""

    phase: str
    quantity: str
    level: dict[str, int | str | bool]

    @property
    def key(self) -> tuple[object, ...]:
        """The same, to look it up by."""
        return (self.phase, self.quantity, *sorted(self.level.items()))


@dataclasses.dataclass(frozen=True, slots=True)
class Earlier:
    """A calibration that was kept: where it lies, and its main figures."""

    directory: str
    idle_p50_ns: float | None
    knee_per_s: float | None
    flush_p50_ns: float | None


@dataclasses.dataclass(frozen=True, slots=True)
class CalibrationSummary:
    """One of the calibrations, in short; `label` is what the report calls it.

    A cache that was seen holds at least `cache_bytes` and less than `cache_below_bytes`, the next larger span.
    """

    label: str
    name: str
    measured_at: str
    budget: str
    engine: str
    file_bytes: int
    host: str | None
    directory: str | None
    device: str | None
    quality: str
    reasons: list[str]
    cache_bytes: int | None
    cache_below_bytes: int | None


@dataclasses.dataclass(frozen=True, slots=True)
class FigureCompared:
    """A figure of the later calibration, `second`, against that of the reference, `first`.

    Interval and p value are by how so many `calibrations` of the place differ from each other, which `spread` says as
    a standard deviation of logs; with 0 they are by the blocks within the calibrations alone.
    """

    figure: FigureName
    family: str
    higher_is_better: bool
    first: Estimate
    second: Estimate
    ratio: Estimate
    ratio_90: Estimate
    p_value: float | None
    p_value_holm: float | None
    calibrations: int
    spread: float | None
    verdict: str
    limited_by: list[str]


@dataclasses.dataclass(frozen=True, slots=True)
class Course:
    """A main figure in each calibration, and its drift: the straight line through the logs by time, last / first.

    `expected` is the mean of the reference, with the interval in which a further one of an unchanged disk is expected.
    """

    figure: FigureName
    higher_is_better: bool
    values: list[Estimate | None]
    expected: Estimate | None
    drift: Estimate | None
    drift_p_value: float | None
    drift_p_value_holm: float | None


@dataclasses.dataclass(frozen=True, slots=True)
class LeftOut:
    """A figure that is not compared, and why."""

    figure: FigureName
    reason: str


@dataclasses.dataclass(frozen=True, slots=True)
class CalibrationsComparison:
    """Two calibrations, A and B, or many along the time, the last of them against those before.

    `reference` and `later` are labels; `others` are further calibrations of the place, which only say how much
    calibrations of it differ. `worse` names the main figures that trip `--gate`.
    """

    format: int
    margin: float
    answer: str
    calibrations: list[CalibrationSummary]
    reference: list[str]
    later: str
    others: list[CalibrationSummary]
    figures: list[FigureCompared]
    worse: list[FigureName]
    courses: list[Course]
    changes: list[Change]
    left_out: list[LeftOut]
    warnings: list[Warning]

    @property
    def decided(self) -> list[FigureCompared]:
        """The figures that are better or worse."""
        return [one for one in self.figures if one.verdict in ("better", "worse")]
