"""The profile: what the database time went into, as bars with their intervals."""

from __future__ import annotations

from collections.abc import Sequence

from dbdyno.analysis.server_profile.findings import Part, ServerProfile
from dbdyno.report.html.chart import Chart
from dbdyno.report.html.palette import Fill
from dbdyno.report.html.quantity import Unit, time_unit
from dbdyno.report.html.ranked import BRACKET_KEY, MOST_ROWS, Ranked, bracketed, rank_words, ranked_panel
from dbdyno.report.html.server_profile import looks
from dbdyno.report.html.table import Cell, Column, Section, Table
from dbdyno.report.server_profile.names import part_name

# A smaller part's bar is not seen; it stands in the table.
LEAST_SHARE = 0.003


def chart(profile: ServerProfile) -> Chart | None:
    """A bar for each part, the greatest first; None where there was no database time."""
    if not profile.parts:
        return None
    unit = time_unit(part.ns.estimate for part in profile.parts)
    parts = [part for part in profile.parts if part.ns.estimate]
    shown = [part for part in parts if abs(part.share.estimate) >= LEAST_SHARE][:MOST_ROWS]
    fills = looks.fills(profile)
    rest = len(parts) - len(shown)
    more = f" {rest} smaller parts stand in the table." if rest else ""
    marked = bracketed(part.rank_group for part in shown)
    return Chart(
        id="parts",
        short="Profile",
        heading="Where the database time went",
        caption=f"Database time by part, with 95 % intervals; the parts sum to the whole.{more}",
        reading=(
            "Database time is the sum of the time that sessions were active: one second of two active sessions is "
            "two seconds of it. CPU and run queue are from exact clocks; waits divide the time asleep as snapshots "
            "saw it. The interval says what another stretch of the same length under the same load would show. "
            "Parts in one bracket are not told apart from its first: the interval of their difference holds zero."
        ),
        panels=[
            ranked_panel(
                None, "Database time", [_ranked(part, fills, unit) for part in shown], unit,
                f"{unit.name} of database time",
            )
        ],
        keys=[BRACKET_KEY] if marked else [],
        tables=[("The same as figures", _table(profile, parts, unit))],
    )  # fmt: skip


def _ranked(part: Part, fills: dict[str, Fill], unit: Unit) -> Ranked:
    words = f"{unit.named(part.ns.estimate)} · {looks.share(part.share.estimate)}"
    return Ranked(part_name(part.part), words, fills[part.part], part.ns, part.rank_group)


def _table(profile: ServerProfile, parts: Sequence[Part], unit: Unit) -> Table:
    """Every part with its interval, its place, and what a wait means."""
    meanings = {wait.event: wait.meaning or "" for wait in profile.waits}
    groups = [part.rank_group for part in parts]
    rows = [
        [
            Cell(part_name(part.part)),
            Cell(rank_words(part.rank_group, groups)),
            Cell(unit.text(part.ns.estimate), looks.interval(part.ns, unit)),
            Cell(looks.share(part.share.estimate), looks.interval(part.share, Unit("%", 0.01))),
            Cell(Unit("", 1).text(part.active_sessions.estimate), looks.interval(part.active_sessions, Unit("", 1))),
            Cell(meanings.get(part.part, "")),
        ]
        for part in parts
    ]
    whole = profile.database_time_ns
    total = [
        Cell("database time"), Cell(""),
        Cell(unit.text(whole.estimate), looks.interval(whole, unit)), Cell("100 %"),
        Cell(
            Unit("", 1).text(profile.active_sessions_mean.estimate),
            looks.interval(profile.active_sessions_mean, Unit("", 1)),
        ),
        Cell(""),
    ]  # fmt: skip
    columns = [
        Column("part", figures=False),
        Column("place"),
        Column("database time", unit.name),
        Column("share"),
        Column("active sessions"),
        Column("what it means", figures=False),
    ]
    return Table("parts-figures", columns, [Section(None, rows), Section(None, [total])])
