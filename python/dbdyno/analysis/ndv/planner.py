"""What the planner makes of n_distinct: `get_variable_numdistinct` and `estimate_num_groups` (selfuncs.c)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from dbdyno.analysis.findings import Estimate

# What it assumes where it knows nothing (DEFAULT_NUM_DISTINCT).
DEFAULT_DISTINCT = 200.0
# Several columns of one relation are not believed to have more groups together than this share of its rows.
GROUPS_SHARE_MAX = 0.1

STATISTICS = "statistics"
UNIQUE_INDEX = "unique index"
BOOLEAN = "boolean"
DEFAULT = "default"
EXTENDED = "extended statistics"
INDEPENDENCE = "independence"


@dataclasses.dataclass(frozen=True, slots=True)
class PlannerFigure:
    """The planner's distinct count and where it comes from."""

    distinct: float
    source: str


def planner_distinct(
    n_distinct: float | None, rows: float, *, null_share: float = 0.0, unique: bool = False, boolean: bool = False
) -> PlannerFigure:
    """Its distinct count of one column.

    Args:
        n_distinct: as pg_stats shows it, 0 for unknown; None without statistics.
        rows: how many it believes there are, null ones among them: a ratio is to all of them.
        null_share: of the statistics.
        unique: whether a unique index says that no value comes twice; that is believed before any statistic.
        boolean: of that type.
    """
    if unique and rows > 0:
        return PlannerFigure(_clamped(rows * (1.0 - null_share)), UNIQUE_INDEX)
    if n_distinct is None and boolean:
        return PlannerFigure(2.0, BOOLEAN)
    if n_distinct is not None and n_distinct > 0:
        return PlannerFigure(_clamped(n_distinct), STATISTICS)
    if rows <= 0:
        return PlannerFigure(DEFAULT_DISTINCT, DEFAULT)
    if n_distinct is not None and n_distinct < 0:
        return PlannerFigure(_clamped(-n_distinct * rows), STATISTICS)
    return PlannerFigure(_clamped(rows) if rows < DEFAULT_DISTINCT else DEFAULT_DISTINCT, DEFAULT)


def independent_groups(distinct: Sequence[float], rows: float) -> float:
    """Groups of several columns that know nothing of each other: the product, up to a tenth of the rows."""
    most = max(distinct)
    limit = max(rows * GROUPS_SHARE_MAX, most) if len(distinct) > 1 else rows
    return _clamped(min(math.prod(distinct), limit))


def error_factor(truth: Estimate, planner: float) -> Estimate:
    """How many times too high or too low the planner is; at least 1. `truth` above 0."""

    def factor(value: float) -> float:
        return max(value / planner, planner / value)

    low, high = truth.low or truth.estimate, truth.high or truth.estimate
    ends = (factor(low), factor(high))
    return Estimate(factor(truth.estimate), 1.0 if low <= planner <= high else min(ends), max(ends))


def _clamped(rows: float) -> float:
    """As `clamp_row_est` does: whole, and at least one."""
    return float(max(round(rows), 1))
