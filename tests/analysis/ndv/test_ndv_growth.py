"""A ratio or a constant, and how long it holds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from counted_values import outcome
from described_table import described

from dbdyno.analysis.ndv.facts import ColumnFacts, column_facts
from dbdyno.analysis.ndv.findings import CONSTANT, RATIO, Forecast, GrowthPoint
from dbdyno.analysis.ndv.forecast import forecast
from dbdyno.analysis.ndv.growth import growth

ROWS = 100_000
RANDOM = np.random.default_rng(7)
NUMBERS = np.arange(ROWS)


def facts(**keys: object) -> ColumnFacts:
    """A column, and its statistics."""
    return column_facts(described(c=dict(keys)), "c")


def decided(values: np.ndarray, column: ColumnFacts) -> tuple[str, str]:
    """Form and evidence."""
    found = outcome({"c": values}, pages=1000)["columns"][0]
    points = [GrowthPoint(point["rows"], point["ndv"]) for point in found["growth"]]
    grown = growth(column.order, points, found["ndv"]["estimate"], ROWS, found["nulls"])
    return grown.form, grown.evidence


def ordered(correlation: float = 1.0, **keys: object) -> ColumnFacts:
    """A column whose rows lie in its order."""
    return facts(statistics={"correlation": correlation}, **keys)


@pytest.mark.parametrize(
    ("values", "column", "expected"),
    [
        (RANDOM.integers(0, 500, ROWS), facts(), (CONSTANT, "saturates")),
        (RANDOM.integers(0, 30_000, ROWS), facts(), (CONSTANT, "slows")),
        (NUMBERS, facts(unique=True), (RATIO, "unique")),
        (RANDOM.permutation(NUMBERS), facts(), (RATIO, "unique")),
        (np.where(NUMBERS % 2 == 0, NUMBERS % 100, NUMBERS), facts(), (RATIO, "grows")),
        (NUMBERS // 5, ordered(), (RATIO, "arrival")),
        (NUMBERS // 500, ordered(), (CONSTANT, "clustered_values")),
        (NUMBERS // 500, ordered(arrival=True), (RATIO, "arrival")),
        (NUMBERS // 500, ordered(base_type=("pg_catalog", "date")), (RATIO, "arrival")),
        (NUMBERS[::-1] // 500, ordered(-1.0, base_type=("pg_catalog", "date")), (CONSTANT, "clustered_values")),
        (NUMBERS // 5, ordered(clustered=True), (CONSTANT, "clustered_values")),
    ],
    ids=[
        *("few values", "values that run out", "a key", "a key without an index", "half of the rows new"),
        *("keys in order", "a sorted domain", "a sequence", "days as they came", "days, the last first", "clustered"),
    ],
)
def test_what_is_stored(values: np.ndarray, column: ColumnFacts, expected: tuple[str, str]) -> None:
    """By what the scan saw; and where rows lie in order, by what else is known."""
    assert decided(values, column) == expected


def test_without_a_curve_the_share_of_the_rows_decides() -> None:
    """As it does in ANALYZE: a ratio above a tenth."""
    assert growth(facts(), [], 20_000, ROWS, 0).form == RATIO
    assert growth(facts(), [], 5_000, ROWS, 0).form == CONSTANT


def test_elasticity_of_a_power() -> None:
    """Values that grow as the root of the rows have 0.5."""
    points = [GrowthPoint(1000 * step, math.sqrt(1000 * step)) for step in range(1, 11)]

    found = growth(facts().order, points, points[-1].ndv, 10_000, 0).elasticity

    assert found == pytest.approx(0.5)


def test_a_constant_is_wrong_when_the_table_has_doubled() -> None:
    """Where values grow as rows do."""
    found = forecast(1000, 1000, 50_000, 1.0, is_ratio=False, rows_per_day=1000.0)

    assert found == Forecast(now=False, rows=pytest.approx(100_000), days=pytest.approx(50))


def test_a_constant_that_is_too_low_is_wrong_earlier() -> None:
    """By a factor 1.6 already: 25 % more rows are enough."""
    found = forecast(625, 1000, 50_000, 1.0, is_ratio=False, rows_per_day=None)

    assert found == Forecast(now=False, rows=pytest.approx(62_500), days=None)


def test_a_constant_that_is_too_high_becomes_right_first() -> None:
    """1.6 times too many: right at 1.6 times the rows, too few by 2 at 3.2 times."""
    found = forecast(1600, 1000, 50_000, 1.0, is_ratio=False, rows_per_day=None)

    assert found.rows == pytest.approx(160_000)


def test_a_ratio_of_values_that_do_not_grow_is_too_high() -> None:
    """By 2 when the table has doubled."""
    found = forecast(1000, 1000, 50_000, 0.0, is_ratio=True, rows_per_day=None)

    assert found == Forecast(now=False, rows=pytest.approx(100_000), days=None)


def test_what_grows_alike_is_never_wrong() -> None:
    """A ratio of keys; and what would take more than 1,000 times the rows."""
    never = Forecast(now=False, rows=None, days=None)

    assert forecast(1000, 1000, 50_000, 1.0, is_ratio=True, rows_per_day=None) == never
    assert forecast(1000, 1000, 50_000, 0.05, is_ratio=False, rows_per_day=None) == never


def test_what_is_wrong_already() -> None:
    """It is so now."""
    assert forecast(100, 1000, 50_000, 0.0, is_ratio=False, rows_per_day=None) == Forecast(True, 50_000, 0.0)
