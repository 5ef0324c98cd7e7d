"""Column groups: what the planner multiplies, and when extended statistics would help."""

from __future__ import annotations

from typing import Any

import numpy as np
from counted_values import outcome
from described_table import described

from dbdyno.analysis.ndv.analyse import analyse
from dbdyno.analysis.ndv.findings import GroupFindings

ROWS = 100_000
NUMBERS = np.arange(ROWS)
A, B = NUMBERS % 100, NUMBERS % 100 // 10
SCAN = {"via": "copy", "where": None, "in_order": True, "groups": [["a", "b"]], "not_counted": []}


def grouped(catalogue: dict[str, Any], planner: float, a: np.ndarray = A, b: np.ndarray = B) -> GroupFindings:
    """The group of both columns."""
    found = outcome({"a": a, "b": b}, 1000, groups=[["a", "b"]])
    return analyse(catalogue, SCAN, found, [planner]).groups[0]


def both(a: float, b: float) -> dict[str, Any]:
    """A table of two columns with these figures."""
    return described(a={"statistics": {"n_distinct": a}}, b={"statistics": {"n_distinct": b}})


def test_columns_that_depend_on_each_other() -> None:
    """100 of one decide the 10 of the other: 100 groups, where 800 are expected."""
    found = grouped(both(100, 10), planner=800)

    assert (found.ndv.estimate, found.planner, found.independent) == (100.0, 800.0, 1000.0)
    assert (found.planner_source, found.error_factor, found.verdict) == ("independence", 8.0, "wrong")
    assert found.fix == (
        "CREATE STATISTICS public.t_a_b_ndistinct (ndistinct) ON a, b FROM public.t;\nANALYZE public.t (a, b);"
    )
    assert found.undo == "DROP STATISTICS public.t_a_b_ndistinct;"


def test_a_figure_that_only_follows_a_wrong_column() -> None:
    """Independent columns, of which one has 10 times as many values as the planner believes: that one is mended."""
    found = grouped(both(10, 10), planner=100, b=NUMBERS // 100 % 10)

    assert (found.ndv.estimate, found.verdict) == (1000.0, "wrong_and_matters")
    assert found.fix is None
    assert found.reasons[-1] == "it is right as soon as the figures of its columns are"


def test_statistics_that_are_there_and_wrong() -> None:
    """They are not created again: their figure is a sample's."""
    catalogue = both(100, 10)
    catalogue["extended"] = [
        {"quoted": "public.s", "kinds": ["d", "f"], "columns": ["b", "a", "c"], "inherited": False, "distinct": []}
    ]

    found = grouped(catalogue, planner=1000)

    assert (found.planner_source, found.fix) == ("extended statistics", None)
    assert found.reasons[-1] == "public.s has its count from a sample; a higher target may mend it"


def test_a_right_figure_needs_nothing() -> None:
    """Within 2."""
    found = grouped(both(100, 10), planner=150)

    assert (found.verdict, found.fix, found.undo) == ("right", None, None)
