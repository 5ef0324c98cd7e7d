"""The main figures along the time, and their drift: a straight line by least squares through the logs.

A calibration counts as one point, whatever its blocks say of themselves: what calibrations differ by is seen in the
points. The slope's interval is Student's with two degrees of freedom less than points.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np

from dbdyno.analysis.calibrations_compared.contrasts import Contrast
from dbdyno.analysis.calibrations_compared.findings import MAIN, Course, FigureCompared
from dbdyno.analysis.calibrations_compared.record import Measured
from dbdyno.analysis.findings import Estimate, finite
from dbdyno.analysis.holm import holm

# Through two points there is always a line.
LEAST_POINTS = 3


def courses(every: Sequence[Measured], compared: Sequence[FigureCompared]) -> list[Course]:
    """Each main figure that three calibrations or more have, in the order of the calibrations."""
    judged = {one.figure.key: one for one in compared if one.calibrations}
    names = {key: one for each in every for key, one in each.figures.items() if one.family == MAIN}
    shown = [key for key in names if sum(key in each.figures for each in every) >= LEAST_POINTS]
    drifts = [_drift(every, key) for key in shown]
    p_values = [None if drift is None else drift.p_value() for drift in drifts]
    known = [place for place, p in enumerate(p_values) if p is not None]
    adjusted = dict(zip(known, holm([p for p in p_values if p is not None]), strict=True))
    return [
        Course(
            figure=names[key].name,
            higher_is_better=names[key].higher_is_better,
            values=[each.figures[key].known.estimate() if key in each.figures else None for each in every],
            expected=_expected(judged[key]) if key in judged else None,
            drift=None if drift is None else drift.estimate(0.95),
            drift_p_value=p_values[place],
            drift_p_value_holm=adjusted.get(place),
        )
        for place, (key, drift) in enumerate(zip(shown, drifts, strict=True))
    ]


def _expected(one: FigureCompared) -> Estimate:
    """Where a further calibration of an unchanged disk lies, 95 of 100: as far away as the interval is long."""
    ends = (one.ratio.low, one.ratio.high)
    low, high = (None if end is None else finite(one.first.estimate * one.ratio.estimate / end) for end in ends[::-1])
    return Estimate(one.first.estimate, low, high)


def _drift(every: Sequence[Measured], key: tuple[object, ...]) -> Contrast | None:
    """From the first to the last calibration along the line, in logs; None where all are of one moment."""
    points = [
        (datetime.fromisoformat(each.summary.measured_at).timestamp(), each.figures[key].known.log)
        for each in every
        if key in each.figures
    ]
    times, logs = np.asarray(points).T
    length = float(times[-1] - times[0])
    if length <= 0:
        return None
    away = (times - times.mean()) / length
    slope = float(away @ logs / (away @ away))
    residuals = logs - logs.mean() - slope * away
    free = len(points) - 2.0
    error = float(np.sqrt(residuals @ residuals / free / (away @ away)))
    return Contrast(slope, error, free)
