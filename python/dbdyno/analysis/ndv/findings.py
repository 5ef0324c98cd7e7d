"""What a count of different values concludes: plain frozen dataclasses, the only thing its reports may look at."""

from __future__ import annotations

import dataclasses

from dbdyno.analysis.findings import Estimate, Warning

FORMAT = 1

RIGHT = "right"
WRONG = "wrong"
WRONG_AND_MATTERS = "wrong_and_matters"
NOT_COMPARED = "not_compared"

RATIO = "ratio"
CONSTANT = "constant"

# What decided between them: each row has a value of its own.
UNIQUE = "unique"


@dataclasses.dataclass(frozen=True, slots=True)
class GrowthPoint:
    """So many different values after so many rows of the scan, null ones among them."""

    rows: int
    ndv: float


@dataclasses.dataclass(frozen=True, slots=True)
class Growth:
    """How the number of values grows with the table, and so whether a ratio or a constant is to be stored.

    `elasticity`: how much more values (in per cent) one per cent more rows bring, 0 to 1; None where nobody knows.
    `evidence` decided, `words` say how: `unique`, `grows`, `slows`, `saturates`, `arrival`, `clustered_values`,
    `share_of_rows`.
    """

    points: list[GrowthPoint]
    elasticity: float | None
    form: str
    evidence: str
    words: str


@dataclasses.dataclass(frozen=True, slots=True)
class Forecast:
    """When a stored figure will be wrong by 2: at how many rows; None where that is not within 1,000 times as many.

    `now`: it is already. `days`: until then, at the rate at which rows came so far; None where that is not known.
    """

    now: bool
    rows: float | None
    days: float | None


@dataclasses.dataclass(frozen=True, slots=True)
class Prediction:
    """What ANALYZE would say at a statistics target, by a sample drawn as it draws one.

    `n_distinct` is as it would store it; `ndv` what the planner would make of that.
    """

    target: int
    sample_rows: int
    n_distinct: float
    ndv: float
    error_factor: float
    suffices: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Use:
    """Something that the planner does with the figure: `equality`, `join` or `grouping`.

    `planner` and `truth` are what it believes and what is: rows of one value, or groups.
    """

    use: str
    planner: float
    truth: float
    matters: bool
    words: str


@dataclasses.dataclass(frozen=True, slots=True)
class ColumnFindings:
    """One column.

    `planner` is the planner's distinct count, from `planner_source`: `statistics`, `unique index`, `default` or
    `boolean`; `n_distinct` as pg_stats has it. `sufficient_target` is the smallest target at which ANALYZE would be
    right; None where none of those tried would. `fix` and `undo` are statements, and `fix_n_distinct` is what pg_stats
    will show after the fix; `alternative` says in words what else could be done. `forecast` is of the figure as it is
    stored, `forecast_after_fix` of that of the fix.
    """

    column: str
    type: str
    nulls: int
    ndv: Estimate
    exact: bool
    n_distinct: float | None
    planner: float | None
    planner_source: str | None
    error_factor: float | None
    error_factor_low: float | None
    error_factor_high: float | None
    verdict: str
    reasons: list[str]
    uses: list[Use]
    growth: Growth | None
    forecast: Forecast | None
    forecast_after_fix: Forecast | None
    analyze: list[Prediction]
    sufficient_target: int | None
    fix_n_distinct: float | None
    fix: str | None
    undo: str | None
    alternative: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class GroupFindings:
    """Several columns together; null counts as a value there, as it does in GROUP BY.

    `independent`: what the planner would expect of columns that know nothing of each other.
    """

    columns: list[str]
    ndv: Estimate
    exact: bool
    planner: float | None
    planner_source: str | None
    independent: float | None
    error_factor: float | None
    error_factor_low: float | None
    error_factor_high: float | None
    verdict: str
    reasons: list[str]
    uses: list[Use]
    fix: str | None
    undo: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class ForeignKey:
    """A column whose values are those of another: `likely`, `possible` or `declared`.

    `orphans`: the share of its different values (not of its rows) that the other one does not have.
    """

    column: str
    refers_to: str
    orphans: Estimate
    exact: bool
    coverage: float
    standing: str
    words: str


@dataclasses.dataclass(frozen=True, slots=True)
class NodeChange:
    """A node of a plan as it is and as it would be; None where there is none such."""

    depth: int
    before: str | None
    after: str | None
    rows_before: float | None
    rows_after: float | None
    cost_before: float | None
    cost_after: float | None


@dataclasses.dataclass(frozen=True, slots=True)
class PlanChange:
    """One statement with the fix and without: `other_plan`, `other_estimates`, `unchanged` or `not_planned`.

    `note` says why it was not planned. `calls` and `total_ms` are of pg_stat_statements.
    """

    statement: str
    outcome: str
    cost_before: float | None
    cost_after: float | None
    shape_before: str | None
    shape_after: str | None
    nodes: list[NodeChange]
    calls: int | None
    total_ms: float | None
    note: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class WhatIf:
    """Plans before and after; `refused` says why there are none."""

    refused: str | None
    statements: list[PlanChange]
    left_out: list[str]


@dataclasses.dataclass(frozen=True, slots=True)
class NotCounted:
    """A column that was not counted, and why."""

    column: str
    type: str
    reason: str


@dataclasses.dataclass(frozen=True, slots=True)
class NdvFindings:
    """One relation, or so many `files` of one kind.

    `fix_script` and `undo_script` are all statements together, None where nothing is to be mended. `server_version` is
    PostgreSQL's; of other sources it is None, and nothing is compared with a planner. `target` is where it was read: a
    URL without its password, or files.
    """

    format: int
    table: str
    kind: str
    files: int | None
    via: str
    where: str | None
    rows: int
    bytes: int | None
    elapsed_ns: int
    server_version: int | None
    analyzed_at: str | None
    columns: list[ColumnFindings]
    groups: list[GroupFindings]
    foreign_keys: list[ForeignKey]
    not_counted: list[NotCounted]
    what_if: WhatIf | None
    fix_script: str | None
    undo_script: str | None
    warnings: list[Warning]
    target: str | None = None

    @property
    def has_planner(self) -> bool:
        """Whether there is a planner whose figures could be compared."""
        return self.server_version is not None


@dataclasses.dataclass(frozen=True, slots=True)
class MergedColumn:
    """One column, or a group of columns, of a file of sketches."""

    name: str
    type: str
    rows: int
    nulls: int
    ndv: Estimate
    exact: bool


@dataclasses.dataclass(frozen=True, slots=True)
class MergedCounts:
    """The union of so many files."""

    files: int
    columns: list[MergedColumn]
