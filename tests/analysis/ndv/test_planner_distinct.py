"""What the planner makes of n_distinct; against the planner itself: tests/server/test_ndv_catalogue.py."""

from __future__ import annotations

import pytest

from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.ndv.planner import PlannerFigure, error_factor, independent_groups, planner_distinct


@pytest.mark.parametrize(
    ("n_distinct", "rows", "expected"),
    [
        (17.0, 1e6, PlannerFigure(17.0, "statistics")),
        (-0.25, 1e6, PlannerFigure(250_000.0, "statistics")),
        (-0.0000001, 1e6, PlannerFigure(1.0, "statistics")),
        (0.0, 1e6, PlannerFigure(200.0, "default")),
        (None, 1e6, PlannerFigure(200.0, "default")),
        (None, 50, PlannerFigure(50.0, "default")),
        (-0.5, 0, PlannerFigure(200.0, "default")),
    ],
)
def test_figure_of_a_column(n_distinct: float | None, rows: float, expected: PlannerFigure) -> None:
    """A count, a ratio to all rows, or nothing known."""
    assert planner_distinct(n_distinct, rows) == expected


def test_a_unique_index_is_believed_first() -> None:
    """Whatever ANALYZE said; nulls are no values."""
    assert planner_distinct(3.0, 1000, null_share=0.25, unique=True) == PlannerFigure(750.0, "unique index")


def test_a_boolean_without_statistics_has_two_values() -> None:
    """As its type says."""
    assert planner_distinct(None, 1e6, boolean=True) == PlannerFigure(2.0, "boolean")


def test_columns_together_are_multiplied_up_to_a_tenth_of_the_rows() -> None:
    """But no less than the one with most values has."""
    assert independent_groups([10, 20], 1e6) == 200.0
    assert independent_groups([1000, 2000], 1e6) == 100_000.0
    assert independent_groups([400_000, 2000], 1e6) == 400_000.0


def test_error_factor_is_the_same_both_ways() -> None:
    """Ten times too low is ten times too high; its interval is that of the truth."""
    assert error_factor(Estimate(1000, 800, 1250), 100) == Estimate(10.0, 8.0, 12.5)
    assert error_factor(Estimate(1000, 800, 1250), 10_000) == Estimate(10.0, 8.0, 12.5)


def test_within_the_interval_there_may_be_no_error() -> None:
    """So it begins at 1."""
    assert error_factor(Estimate(1000, 800, 1250), 1000) == Estimate(1.0, 1.0, 1.25)
