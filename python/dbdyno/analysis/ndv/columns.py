"""One column: from its counts and the catalogue to its verdict and its fix."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.ndv.analyze_estimator import ROWS_PER_TARGET, SampleCounts, analyze_n_distinct
from dbdyno.analysis.ndv.counts import counted
from dbdyno.analysis.ndv.facts import ColumnFacts, RelationFacts, Settings
from dbdyno.analysis.ndv.findings import RIGHT, ColumnFindings, Forecast, Growth, GrowthPoint, Prediction
from dbdyno.analysis.ndv.fixes import Fix, analyze_again, fixing, set_n_distinct, stored_value, undoing
from dbdyno.analysis.ndv.forecast import forecast
from dbdyno.analysis.ndv.growth import effective_elasticity, growth
from dbdyno.analysis.ndv.planner import (
    STATISTICS,
    UNIQUE_INDEX,
    PlannerFigure,
    error_factor,
    planner_distinct,
)
from dbdyno.analysis.ndv.uses import uses
from dbdyno.analysis.ndv.verdict import is_right, verdict

# One sample's figure must be this near before ANALYZE alone is taken for a fix: the next sample is another one.
_SURELY_RIGHT_FACTOR = 1.5


@dataclasses.dataclass(frozen=True, slots=True)
class Table:
    """What holds for all columns of a scan.

    `compared`: whether the planner's figures are about the rows that were read. `in_order`: whether these came as they
    lie. `target`: the largest statistics target of a column, which decides how many rows ANALYZE draws.
    """

    relation: RelationFacts
    settings: Settings
    rows: int
    compared: bool
    in_order: bool
    target: int


def column_findings(table: Table, column: ColumnFacts, found: Document) -> tuple[ColumnFindings, Fix | None]:
    """Of an entry of `columns` of the scan's outcome; and what mends it, where it is to be mended."""
    truth = counted(found, table.rows - int(found["nulls"]))
    stored = None if column.statistics is None else column.statistics.n_distinct
    bare = bare_column(column.name, column.type, found, truth, n_distinct=stored)
    if not table.compared or column.virtual or truth.estimate <= 0:
        return bare, None
    figure = _planner(table, column)
    factor = error_factor(truth, figure.distinct)
    rows, nulls = table.rows, int(found["nulls"])
    applied = uses(table.relation, column, table.settings, figure.distinct, truth.estimate, rows, nulls)
    judged, reasons = verdict(factor, applied)
    points = growth_points(found) if table.in_order else []
    grown = growth(column.order, points, truth.estimate, rows, nulls)
    predicted = predictions(found["samples"], rows, truth)
    sufficient = next((one.target for one in predicted if one.suffices), None)
    fix = None if judged == RIGHT else _fix(table, column, grown, predicted, truth, found)
    judged_column = dataclasses.replace(
        bare,
        planner=figure.distinct,
        planner_source=figure.source,
        error_factor=factor.estimate,
        error_factor_low=factor.low,
        error_factor_high=factor.high,
        verdict=judged,
        reasons=reasons,
        uses=applied,
        growth=grown,
        forecast=_forecast(table, truth, grown, figure.distinct, is_ratio=_is_ratio(column, figure)),
        forecast_after_fix=None
        if fix is None or fix.n_distinct is None
        else _forecast_after(table, truth, grown, fix.n_distinct),
        analyze=predicted,
        sufficient_target=sufficient,
        fix_n_distinct=None if fix is None else fix.n_distinct,
        fix=None if fix is None else fixing(table.relation, [fix]),
        undo=None if fix is None else undoing(table.relation, [fix]),
        alternative=None if fix is None else _alternative(table, sufficient, predicted),
    )
    return judged_column, fix


def predictions(samples: Sequence[Document], rows: int, truth: Estimate) -> list[Prediction]:
    """What ANALYZE would say at each target that was tried, lowest first."""
    found = []
    for sample in sorted(samples, key=lambda one: int(one["target"])):
        counts = SampleCounts.of(sample)
        if counts.rows == 0:
            continue
        n_distinct = analyze_n_distinct(counts, rows)
        ndv = planner_distinct(n_distinct, rows).distinct
        factor = error_factor(truth, ndv)
        found.append(
            Prediction(int(sample["target"]), counts.rows, n_distinct, ndv, factor.estimate, suffices=is_right(factor))
        )
    return found


def bare_column(
    name: str,
    type_: str,
    found: Document,
    truth: Estimate,
    *,
    n_distinct: float | None = None,
    grown: Growth | None = None,
) -> ColumnFindings:
    """What was counted, compared with nothing."""
    judged, _ = verdict(None, [])
    return ColumnFindings(
        column=name,
        type=type_,
        nulls=int(found["nulls"]),
        ndv=truth,
        exact=found["exact"],
        n_distinct=n_distinct,
        planner=None,
        planner_source=None,
        error_factor=None,
        error_factor_low=None,
        error_factor_high=None,
        verdict=judged,
        reasons=[],
        uses=[],
        growth=grown,
        forecast=None,
        forecast_after_fix=None,
        analyze=[],
        sufficient_target=None,
        fix_n_distinct=None,
        fix=None,
        undo=None,
        alternative=None,
    )


def growth_points(found: Document) -> list[GrowthPoint]:
    """Of an entry of `columns` of the scan's outcome."""
    return [GrowthPoint(point["rows"], point["ndv"]) for point in found["growth"]]


def _planner(table: Table, column: ColumnFacts) -> PlannerFigure:
    statistics = column.statistics
    return planner_distinct(
        None if statistics is None else statistics.n_distinct,
        table.relation.planner_rows,
        null_share=0.0 if statistics is None else statistics.null_share,
        unique=column.believed_unique,
        boolean=column.boolean,
    )


def _fix(
    table: Table, column: ColumnFacts, grown: Growth, predicted: Sequence[Prediction], truth: Estimate, found: Document
) -> Fix:
    """ANALYZE alone where nothing forbids it to be right and it would be; else the option."""
    now = [one for one in predicted if one.target <= table.target]
    if column.override is None and column.target and now and now[-1].error_factor < _SURELY_RIGHT_FACTOR:
        return analyze_again(column, now[-1].n_distinct)
    value = stored_value(grown, truth.estimate, table.rows, int(found["nulls"]), exact=found["exact"])
    return set_n_distinct(table.relation, column, value)


def _is_ratio(column: ColumnFacts, figure: PlannerFigure) -> bool:
    if figure.source == STATISTICS and column.statistics is not None:
        return column.statistics.n_distinct < 0
    return figure.source == UNIQUE_INDEX


def _forecast(table: Table, truth: Estimate, grown: Growth, figure: float, *, is_ratio: bool) -> Forecast:
    return forecast(
        figure,
        truth.estimate,
        table.rows,
        effective_elasticity(grown),
        is_ratio=is_ratio,
        rows_per_day=table.relation.rows_per_day,
    )


def _forecast_after(table: Table, truth: Estimate, grown: Growth, n_distinct: float) -> Forecast:
    figure = planner_distinct(n_distinct, table.rows)
    return _forecast(table, truth, grown, figure.distinct, is_ratio=n_distinct < 0)


def _alternative(table: Table, sufficient: int | None, predicted: Sequence[Prediction]) -> str | None:
    if not predicted:
        return None
    if sufficient is None:
        largest = predicted[-1]
        return (
            f"a higher statistics target does not help: with {largest.target:,} ANALYZE would still be wrong by "
            f"{largest.error_factor:,.1f}"
        )
    if sufficient <= table.target:
        return None
    rows = min(sufficient * ROWS_PER_TARGET, table.rows)
    return (
        f"SET STATISTICS {sufficient} would do as well, at the price of a sample of {rows:,} rows of the table at each "
        "ANALYZE, and of longer lists for the planner to go through"
    )
