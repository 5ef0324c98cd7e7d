"""Does the number of values grow with the table? Then a ratio is to be stored, else a constant.

The scan is a small history of the table: new rows come to its end, so what the second half of the rows brought in new
values is what the next ones will bring. How much that is, the elasticity says: log(ndv / ndv at half the rows) over
log 2; 1 where values come as fast as rows, 0 where none comes any more.

One thing spoils it: **rows in the order of their values**. Then the scan meets value after value, and the elasticity
is 1 however few there are. Of such a column the scan decides nothing, and other evidence does, the firmest first:

1. Each row has a value of its own (a unique index, or the count itself): a ratio.
2. The table was put in this order by CLUSTER, so the order says nothing of how rows came; or there are few values
   (below 10,000) that neither tell the time nor count up: a domain that was sorted, a constant.
3. Else values in order are keys, or times, that came one after the other: a ratio.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dbdyno.analysis.ndv.analyze_estimator import GROWING_SHARE
from dbdyno.analysis.ndv.facts import RowOrder
from dbdyno.analysis.ndv.findings import CONSTANT, RATIO, UNIQUE, Growth, GrowthPoint

# From here on a ratio is wrong by less than a constant when the table has doubled.
GROWING_ELASTICITY = 0.5
SATURATED_ELASTICITY = 0.2
# Rows in the order of values, by the correlation of pg_stats.
ORDERED_CORRELATION = 0.9
# Of the non-null rows: each has a value of its own, but for what a sketch is wrong by.
UNIQUE_SHARE = 0.97
ORDER_UNKNOWN = "; rows in the order of the values would look the same"
# A domain rather than keys.
FEW_VALUES = 10_000


def growth(
    order: RowOrder,
    points: Sequence[GrowthPoint],
    ndv: float,
    rows: int,
    nulls: int,
) -> Growth:
    """Ratio or constant, and what decided that.

    Args:
        order: what is known of the order of the rows.
        points: of the scan, in the order in which the rows lie; none where they came in another, or not to us.
        ndv: of the whole, above 0.
        rows: of the whole; likewise `nulls`.
    """
    elasticity = scan_elasticity(points)
    form, evidence, words = _decide(order, elasticity, ndv, rows, nulls)
    return Growth(list(points), elasticity, form, evidence, words)


def scan_elasticity(points: Sequence[GrowthPoint]) -> float | None:
    """Over the second half of the rows; None with fewer than four points, or without values in the first half."""
    if len(points) < 4:
        return None
    last = points[-1]
    half = min(points[:-1], key=lambda point: abs(point.rows - last.rows / 2))
    if half.ndv <= 0 or half.rows <= 0 or half.rows >= last.rows:
        return None
    return min(max(math.log(last.ndv / half.ndv) / math.log(last.rows / half.rows), 0.0), 1.0)


def effective_elasticity(found: Growth) -> float:
    """How the number of values goes on growing, as far as that is known: the scan's word where that decided."""
    if found.evidence in ("saturates", "slows", "grows") and found.elasticity is not None:
        return found.elasticity
    return 1.0 if found.form == RATIO else 0.0


def _decide(order: RowOrder, elasticity: float | None, ndv: float, rows: int, nulls: int) -> tuple[str, str, str]:
    if order.unique or ndv >= UNIQUE_SHARE * (rows - nulls):
        return RATIO, UNIQUE, "each row has a value of its own"
    if elasticity is None:
        share = ndv / rows
        form = RATIO if share > GROWING_SHARE else CONSTANT
        return form, "share_of_rows", f"there is one value to {1 / share:,.1f} rows; how it grew is not known"
    if elasticity < SATURATED_ELASTICITY:
        return CONSTANT, "saturates", f"the second half of the rows brought {_more(elasticity)} new values"
    correlation = order.correlation
    if not order.clustered and (correlation is None or abs(correlation) < ORDERED_CORRELATION):
        form = RATIO if elasticity >= GROWING_ELASTICITY else CONSTANT
        words = _grew(elasticity) + (ORDER_UNKNOWN if correlation is None else "")
        return form, "grows" if form == RATIO else "slows", words
    return _decide_ordered(order, correlation or 0.0, ndv)


def _decide_ordered(order: RowOrder, correlation: float, ndv: float) -> tuple[str, str, str]:
    ordered = "rows lie in the order of the values, so the scan does not show how they grow"
    if order.clustered:
        return CONSTANT, "clustered_values", f"{ordered}: the table was clustered by an index on them"
    if correlation > 0 and order.counts_up:
        return RATIO, "arrival", f"{ordered}; but they count up or tell the time, and came with the rows"
    if ndv < FEW_VALUES:
        return CONSTANT, "clustered_values", f"{ordered}; there are few of them, so they are taken for a fixed set"
    return RATIO, "arrival", f"{ordered}; there are many of them, so they are taken for keys that came one by one"


def _more(elasticity: float) -> str:
    more = 2.0**elasticity - 1.0
    return "no" if more < 0.001 else f"{more:.1%}"


def _grew(elasticity: float) -> str:
    return f"twice the rows had {2.0**elasticity:.2f} times the values"
