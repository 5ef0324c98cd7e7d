"""How much kept calibrations of the same storage differ, beside the intervals of this one.

An interval says how well one calibration knows its own minute; how storage differs from day to day only others say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rich.text import Text

from dbdyno.analysis.calibration.findings import Calibration
from dbdyno.analysis.calibrations_compared.findings import Earlier
from dbdyno.analysis.findings import Estimate
from dbdyno.report import numbers
from dbdyno.report.layout import Column, Row, table
from dbdyno.report.sections.arms import title

# Of a figure: its name, the one of this calibration, those of earlier ones, and how it is written.
Figure = tuple[str, Estimate, list[float], Callable[[float], str]]


def earlier(calibration: Calibration, kept: Sequence[Earlier]) -> list[Text]:
    """One row a figure; nothing where there is none before."""
    shown = [figure for figure in _figures(calibration, kept) if figure[2]]
    if not shown:
        return []
    columns = [
        Column(("this one",), tuple(write(now.estimate) for _, now, _, write in shown), style="bold"),
        Column(("95 %",), tuple(_interval(now, write) for _, now, _, write in shown), style="dim", words=True),
        Column(("earlier ones",), tuple(_range(before, write) for _, _, before, write in shown), words=True),
    ]
    lines = title(f"The same storage before: {numbers.count(len(kept), 'earlier calibration')}")
    return [*lines, *table([Row(name) for name, *_ in shown], columns)]


def _figures(calibration: Calibration, kept: Sequence[Earlier]) -> Iterator[Figure]:
    if calibration.idle is not None:
        before = [one.idle_p50_ns for one in kept if one.idle_p50_ns is not None]
        yield "idle read, p50", calibration.idle.p50_ns, before, numbers.duration
    if calibration.knee:
        before = [one.knee_per_s for one in kept if one.knee_per_s is not None]
        yield "IOPS at the knee", calibration.knee[0].iops, before, numbers.significant
    if calibration.flush:
        before = [one.flush_p50_ns for one in kept if one.flush_p50_ns is not None]
        yield f"{calibration.flush[0].method}, p50", calibration.flush[0].p50_ns, before, numbers.duration


def _interval(now: Estimate, write: Callable[[float], str]) -> str:
    if now.low is None or now.high is None:
        return numbers.NOTHING
    return f"[{write(now.low)}, {write(now.high)}]"


def _range(before: Sequence[float], write: Callable[[float], str]) -> str:
    least, most = write(min(before)), write(max(before))
    return least if least == most else f"{least} to {most}"
