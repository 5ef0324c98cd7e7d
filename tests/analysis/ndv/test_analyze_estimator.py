"""ANALYZE's estimate from a sample's counts: each branch of its source, by figures worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from dbdyno.analysis.ndv.analyze_estimator import SampleCounts, analyze_n_distinct


def counts(rows: int, *, nulls: int = 0, distinct: int = 0, once: int = 0, wide: int = 0) -> SampleCounts:
    """A sample's counts."""
    return SampleCounts(rows, nulls, distinct, once, wide)


@pytest.mark.parametrize(
    ("sample", "rows", "expected"),
    [
        (counts(30_000, distinct=30_000, once=30_000), 1e9, -1.0),
        (counts(30_000, nulls=7_500, distinct=22_500, once=22_500), 1e9, -0.75),
        (counts(30_000, distinct=10, once=0), 1e9, 10.0),
        (counts(30_000, nulls=29_990, distinct=5, once=0), 1e9, 5.0),
        (counts(100, nulls=100), 1e6, 0.0),
        (counts(0), 0, 0.0),
    ],
    ids=["no value twice", "no value twice, nulls", "each value twice", "each twice, nulls", "only nulls", "no rows"],
)
def test_without_a_doubt(sample: SampleCounts, rows: float, expected: float) -> None:
    """Where no value, or every value, was seen again, nothing is estimated."""
    assert analyze_n_distinct(sample, rows) == expected


def test_some_values_once() -> None:
    """Duj1: n d / (n - f1 + f1 n / N), rounded: 30,000 x 20,000 / (15,000 + 15,000 x 0.0015) = 39,940."""
    assert analyze_n_distinct(counts(30_000, distinct=20_000, once=15_000), 20_000_000) == 39_940.0


def test_nulls_are_in_neither_number() -> None:
    """n and N are those that are not null: 20,000 x 15,000 / (10,000 + 10,000 x 20,000 / 13,333,333.3) = 29,955."""
    sample = counts(30_000, nulls=10_000, distinct=15_000, once=10_000)

    assert analyze_n_distinct(sample, 20_000_000) == 29_955.0


def test_above_a_tenth_of_the_rows_it_is_a_ratio() -> None:
    """The same sample of a table of 300,000 rows: 30,000 x 20,000 / (15,000 + 1,500) = 36,364 of them."""
    sample = counts(30_000, distinct=20_000, once=15_000)

    assert analyze_n_distinct(sample, 300_000) == float(np.float32(-36_364 / 300_000))


def test_values_that_all_came_again_become_a_ratio_too() -> None:
    """A small table that was read as a whole: 1,000 rows, each value twice."""
    assert analyze_n_distinct(counts(1000, distinct=500, once=0), 1000) == -0.5


def test_the_whole_table_is_what_was_seen() -> None:
    """With N = n nothing is blown up."""
    assert analyze_n_distinct(counts(20_000, distinct=1_000, once=400), 20_000) == 1_000.0


def test_wide_values_count_as_seen_once() -> None:
    """d = 10 + 100 and f1 = 0 + 100: 1,000 x 110 / (900 + 100 x 0.001) = 122.2."""
    assert analyze_n_distinct(counts(1000, distinct=10, once=0, wide=100), 1_000_000) == 122.0


def test_only_wide_values_are_all_different() -> None:
    """None was compared, and none of them is taken for a repetition."""
    assert analyze_n_distinct(counts(1000, nulls=500, wide=500), 1_000_000) == -0.5


def test_no_more_than_there_are_rows() -> None:
    """The clamp: a table that is believed to be smaller than its sample."""
    assert analyze_n_distinct(counts(1000, distinct=900, once=899), 500) == -1.0
