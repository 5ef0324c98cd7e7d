"""When a stored figure will be wrong by 2.

Values grow as rows to the power of the elasticity, the figure as rows (a ratio) or not at all (a constant), so the log
of their quotient is a line over the log of the rows, and where it crosses log 2 is the answer.
"""

from __future__ import annotations

import math

from dbdyno.analysis.ndv.findings import Forecast
from dbdyno.analysis.ndv.verdict import WRONG_FACTOR

# Further away than that is never.
TIMES_MAX = 1000.0


def forecast(
    figure: float, ndv: float, rows: float, elasticity: float, *, is_ratio: bool, rows_per_day: float | None
) -> Forecast:
    """Of one figure.

    Args:
        figure: what the planner makes of it at present, above 0.
        ndv: the truth at present, above 0.
        rows: of the table at present.
        elasticity: of the truth, 0 to 1.
        is_ratio: whether the figure grows with the rows.
        rows_per_day: None where that is not known.
    """
    off = math.log(figure / ndv)
    limit = math.log(WRONG_FACTOR)
    if abs(off) >= limit:
        return Forecast(now=True, rows=rows, days=0.0)
    slope = (1.0 if is_ratio else 0.0) - elasticity
    if slope == 0:
        return Forecast(now=False, rows=None, days=None)
    log_times = (math.copysign(limit, slope) - off) / slope
    if log_times > math.log(TIMES_MAX):
        return Forecast(now=False, rows=None, days=None)
    then = rows * math.exp(log_times)
    return Forecast(now=False, rows=then, days=None if rows_per_day is None else (then - rows) / rows_per_day)
