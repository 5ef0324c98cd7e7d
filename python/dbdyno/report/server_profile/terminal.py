"""A server's profile on a terminal: what matters and what to try, then the figures, then what to type next."""

from __future__ import annotations

import io
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from dbdyno.analysis.server_profile.findings import Finding, ServerProfile
from dbdyno.report import numbers
from dbdyno.report.layout import WIDTH, paragraph
from dbdyno.report.sections.arms import title
from dbdyno.report.sections.limits import limits
from dbdyno.report.sections.stacks import profile_stacks
from dbdyno.report.sections.system_calls import system_calls
from dbdyno.report.server_profile.blocking import blocking
from dbdyno.report.server_profile.over_time import over_time
from dbdyno.report.server_profile.tables import background, by_owner, by_query, parts, requests, wait_lengths

# Two minutes are enough for so many; the JSON document has all.
MOST_FINDINGS = 7
# Of a session, on average.
LEAST_BESIDE = 0.05
OWNERS = {
    "user": "by_user",
    "application": "by_application",
    "database": "by_database",
    "backend type": "by_backend_type",
}


def render(profile: ServerProfile, width: int = WIDTH, *, directory: str | None = None, page: str | None = None) -> str:
    """The whole report as plain text; tables are made for 80 columns, the chart over time for `width`."""
    out = io.StringIO()
    console = Console(file=out, width=max(width, WIDTH), color_system=None)
    print_profile(profile, console, directory=directory, page=page)
    return out.getvalue()


def print_profile(
    profile: ServerProfile, console: Console, *, directory: str | None = None, page: str | None = None
) -> None:
    """Print the report.

    Args:
        profile: what the analysis concludes.
        console: where to; colour only if it is a terminal.
        directory: where the profile is saved, for the last lines.
        page: the path of the HTML page, if there is one.
    """
    for line in _lines(profile, console.width, directory, page):
        line.rstrip()
        console.print(line, highlight=False, soft_wrap=True)


def _lines(profile: ServerProfile, width: int, directory: str | None, page: str | None) -> Iterator[Text]:
    yield from paragraph(Text(f"{profile.target}: where its time went", style="bold"))
    yield Text()
    yield from _findings(profile.findings)
    yield Text()
    yield from paragraph(Text(_measured(profile), style="dim"))
    for section in (
        parts(profile),
        over_time(profile.active_sessions, width),
        by_query(profile),
        *(by_owner(name, getattr(profile, field)) for name, field in OWNERS.items()),
        blocking(profile.blockers),
        profile_stacks(profile.stacks),
        system_calls(profile.system_calls) if profile.system_calls else [],
        wait_lengths(profile),
        requests(profile),
        background(profile),
        limits(profile.warnings, ""),
    ):
        if section:
            yield Text()
            yield from section
    yield Text()
    yield from _next(directory, page)


def _findings(found: list[Finding]) -> Iterator[Text]:
    """The greatest stake first; what to try stands below each."""
    if not found:
        yield from paragraph(Text("Nothing stands out: no part of the time is great enough to name."))
    for place, finding in enumerate(found[:MOST_FINDINGS]):
        stake = f" [{numbers.significant(finding.seconds_at_stake)} s]" if finding.seconds_at_stake > 0 else ""
        said = Text.assemble((f"{place + 1}. ", "bold"), finding.sentence, (stake, "dim"))
        yield from paragraph(said, rest="   ")
        yield from paragraph(Text.assemble(("Try: ", "bold green"), finding.next), first="   ", rest="        ")
    if len(found) > MOST_FINDINGS:
        yield Text(f"   ({len(found) - MOST_FINDINGS} more in the JSON document)", style="dim")


def _measured(profile: ServerProfile) -> str:
    """How much was measured, how and at what cost: no figure without it."""
    where = f"PostgreSQL {profile.server_version}"
    where += f", {numbers.count(profile.cpus, 'CPU')}" if profile.cpus else ""
    mean = profile.active_sessions_mean
    low, high = numbers.in_unit(mean.low, numbers.ONE), numbers.in_unit(mean.high, numbers.ONE)
    bounds = "" if mean.low is None else f" (95 % interval {low} to {high})"
    cost = profile.sampler.host_share
    length = numbers.significant(profile.seconds)
    return (
        f"Measured: {length} s of {numbers.count(profile.sessions, 'session')} on {where}; "
        f"{numbers.in_unit(mean.estimate, numbers.ONE)} active on average{bounds}, "
        f"{numbers.duration(profile.database_time_ns.estimate)} of database time. "
        f"{profile.sweeps:,} looks by the route {profile.route}"
        + (f", {numbers.percent(cost)} of the host's CPU." if cost is not None else ".")
        + _intervals(profile)
        + _beside(profile)
    )


def _beside(profile: ServerProfile) -> str:
    """What is in nobody's database time and still makes users wait."""
    length_ns = profile.seconds * numbers.SECONDS.size or 1.0
    idle = profile.idle_in_transaction_ns.estimate / length_ns
    said = f" Beside these {numbers.significant(idle)} idle in transaction" if idle >= LEAST_BESIDE else ""
    queue = profile.idle_run_queue_ns
    unbegun = 0.0 if queue is None else queue.estimate / length_ns
    if unbegun >= LEAST_BESIDE:
        said += f"{' and' if said else ' Beside these'} {numbers.significant(unbegun)} in line with a command not begun"
    return f"{said}." if said else ""


def _intervals(profile: ServerProfile) -> str:
    drawn = profile.bootstrap
    if drawn.unit == "none":
        return " Too short for intervals."
    return f" Intervals from {drawn.resamples} draws of {drawn.units} {drawn.unit}."


def _next(directory: str | None, page: str | None) -> Iterator[Text]:
    yield from title("What next")
    yield Text("After a change profile again, then see where the time moved:", style="dim")
    yield Text(f"dbdyno compare {directory or 'THIS'} OTHER")
    if page is not None:
        yield Text("Page:    ").append(page)
    if directory is not None:
        yield Text("Profile: ").append(directory)
