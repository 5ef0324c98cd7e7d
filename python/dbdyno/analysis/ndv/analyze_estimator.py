"""What ANALYZE says of a column, from the counts of its sample.

PostgreSQL's `compute_scalar_stats` (analyze.c), step by step, in its own precision (pg_statistic holds float4). Its
core is the estimator Duj1 of Haas and Stokes, "Estimating the number of classes in a finite population", JASA 93
(1998):

    n d / (n - f1 + f1 n / N)      n of N rows seen, d different values among them, f1 of those once

d values seen often count for themselves; f1 of them are blown up, by at most N / n. Where most values are rare, a
sample of a fixed size sees each once whatever their number, which is why the figure can be wrong by any factor.

Values above 1,024 bytes are not compared: each counts as different, and seen once. A type that can be hashed but not
ordered (xid) goes through `compute_distinct_stats`, whose list of values is shorter; here it is treated alike.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from dbdyno.analysis.documents import Document

# Above this share of the rows ANALYZE takes the count for one that grows with the table, and stores its ratio.
GROWING_SHARE = 0.1
# Rows a sample has for each unit of the statistics target (`std_typanalyze`).
ROWS_PER_TARGET = 300


@dataclasses.dataclass(frozen=True, slots=True)
class SampleCounts:
    """A sample of rows: `distinct` values among those that are neither null nor `wide`, and those seen `once`."""

    rows: int
    nulls: int
    distinct: int
    once: int
    wide: int

    @classmethod
    def of(cls, document: Document) -> SampleCounts:
        """An entry of `samples` of the scan's outcome."""
        return cls(*(int(document[key]) for key in ("rows", "nulls", "distinct", "once", "wide")))


def analyze_n_distinct(sample: SampleCounts, table_rows: float) -> float:
    """`n_distinct` as pg_stats would show it: a count, the negative of a ratio, or 0 where unknown.

    Args:
        sample: what was drawn.
        table_rows: how many rows ANALYZE believes the table has.
    """
    if sample.rows == sample.nulls:
        return 0.0
    null_share = float(np.float32(sample.nulls / sample.rows))
    if sample.distinct == sample.once:  # no value was seen twice
        return _stored(-(1.0 - null_share))
    if sample.wide == 0 and sample.once == 0:  # every value was
        distinct = _stored(sample.distinct)
    else:
        distinct = _stored(_duj1(sample, table_rows * (1.0 - null_share)))
    return _stored(-(distinct / table_rows)) if distinct > GROWING_SHARE * table_rows else distinct


def _duj1(sample: SampleCounts, table_values: float) -> float:
    """Rounded, and not below what was seen nor above what there is."""
    once = sample.once + sample.wide
    seen = sample.distinct + sample.wide
    values = sample.rows - sample.nulls
    found = values * seen / (values - once + once * values / table_values)
    return math.floor(min(max(found, seen), table_values) + 0.5)


def _stored(value: float) -> float:
    return float(np.float32(value))
