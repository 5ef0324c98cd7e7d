"""How the guarded service fared."""

from __future__ import annotations

from rich.text import Text

from dbdyno.analysis.calibration.findings import Calibration
from dbdyno.report import numbers
from dbdyno.report.layout import paragraph


def guarded(calibration: Calibration) -> list[Text]:
    """One paragraph; nothing where nobody was guarded."""
    said = sentence(calibration)
    return paragraph(Text.assemble(("Guarded: ", "bold"), said)) if said else []


def sentence(calibration: Calibration) -> str:
    """Its response times before and meanwhile, and what would have been, or was, too much."""
    guard = calibration.guard
    if guard is None:
        return ""
    before = f"p50 {numbers.duration(guard.before_p50_ns)} and p90 {numbers.duration(guard.before_p90_ns)} before"
    during = "no answer meanwhile"
    if guard.p50_ns is not None and guard.p90_ns is not None and guard.max_ns is not None:
        during = (
            f"{numbers.duration(guard.p50_ns)} and {numbers.duration(guard.p90_ns)} meanwhile, at most "
            f"{numbers.duration(guard.max_ns)}, of {numbers.count(guard.probes, 'answer')}"
        )
    half, fifth = (numbers.duration(limit) for limit in guard.limits_ns)
    rule = f"too much would be half of 3 s above {half}, or a fifth of 10 s above {fifth}"
    ended = rule if guard.seen is None else f"stopped, because {guard.seen}"
    return f"{guard.service}, asked {guard.statement}: {before}, {during}; {ended}."
