"""How the parts of database time are coloured, and intervals written, on the whole page."""

from __future__ import annotations

from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.server_profile.findings import ServerProfile
from dbdyno.report.html import palette
from dbdyno.report.html.palette import Fill
from dbdyno.report.html.quantity import Unit
from dbdyno.report.numbers import percent

BEFORE_WAITS = {"cpu": Fill(palette.CPU), "run_queue": Fill(palette.RUN_QUEUE)}
AFTER_WAITS = {
    "asleep_no_wait_event": Fill(palette.ASLEEP),
    "client_and_network": Fill(palette.CLIENT),
    "no_clock": Fill(palette.QUEUE),
    "unaccounted": Fill(palette.UNACCOUNTED, "/"),
}


def fills(profile: ServerProfile) -> dict[str, Fill]:
    """Every part's fill, in stacking order: CPU, run queue, the waits by size, and what has no name."""
    waits = profile.profile_ns.waits
    return BEFORE_WAITS | palette.wait_fills(sorted(waits, key=lambda event: (-waits[event], event))) | AFTER_WAITS


def interval(figure: Estimate, unit: Unit) -> str:
    """The ends of an interval; empty where there is none."""
    if figure.low is None or figure.high is None:
        return ""
    return f"{unit.text(figure.low)} to {unit.text(figure.high)}"


def shares(figure: Estimate) -> str:
    """A share and its interval, as in `31 % (28 to 34 %)`."""
    if figure.low is None or figure.high is None:
        return share(figure.estimate)
    if share(figure.low) == share(figure.high):
        return share(figure.estimate)
    return f"{share(figure.estimate)} ({share(figure.low).removesuffix(' %')} to {share(figure.high)})"


def share(value: float) -> str:
    """A share in per cent, with a true minus sign; what is nearly nothing is not called nothing."""
    if 0 < value < 0.0005:
        return "<0.1 %"
    return percent(value).replace("-", "−")
