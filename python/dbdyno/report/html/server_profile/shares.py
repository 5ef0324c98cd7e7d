"""Whose time it is: database time by query, user, application, database, backend type and session.

Each row has a small bar: as long as the row's share of the longest, and split as the profile is.
"""

from __future__ import annotations

from collections.abc import Sequence

from dbdyno.analysis.server_profile.findings import QueryTime, ServerProfile, SessionTime, Share
from dbdyno.report.html.quantity import Unit, middle_time_unit, number, time_unit, whole
from dbdyno.report.html.ranked import rank_words
from dbdyno.report.html.server_profile import looks
from dbdyno.report.html.small_bars import SmallBars, longest_words
from dbdyno.report.html.table import Cell, Column, Section, Table
from dbdyno.report.numbers import percent
from dbdyno.report.server_profile.names import UNKNOWN, part_name

# A query's text in the table; what is longer stands in full beneath it.
TEXT_CHARACTERS = 160
MOST_SESSIONS = 20
# Behind name, bar, time and share.
PLACE_AT = 4

Row = QueryTime | Share | SessionTime


def queries(profile: ServerProfile) -> Table | None:
    """Database time by query; None where none was told from another."""
    if not any(query.query_id or query.text for query in profile.by_query):
        return None
    times = time_unit(query.ns.estimate for query in profile.by_query)
    calls = [query.ns_per_call for query in profile.by_query if query.ns_per_call is not None]
    call_unit = middle_time_unit(calls)
    columns = [
        Column("query", figures=False),
        *_columns(times),
        *([Column("calls"), Column("time of a call", call_unit.name)] if calls else []),
    ]
    bars, groups = _bars(profile, profile.by_query), [query.rank_group for query in profile.by_query]
    rows = [
        [
            Cell(clipped(query), query.query_id or "no identifier"),
            *_cells(query, times, bars),
            *(_call_cells(query, call_unit) if calls else []),
        ]
        for query in profile.by_query
    ]
    return _placed(Table("queries", columns, [Section(None, rows)]), groups)


def long_queries(profile: ServerProfile) -> list[tuple[str, str]]:
    """Identifier and whole text of every query whose text was cut short."""
    return [
        (query.query_id or "no identifier", query.text)
        for query in profile.by_query
        if query.text and clipped(query) != query.text
    ]


def clipped(query: QueryTime) -> str:
    """The beginning of a query's text, on one line."""
    text = " ".join((query.text or UNKNOWN).split())
    return text if len(text) <= TEXT_CHARACTERS else f"{text[: TEXT_CHARACTERS - 1].rstrip()}…"


def undivided(profile: ServerProfile) -> list[tuple[str, str]]:
    """What all the time was of: the dimensions with one name, which need no table."""
    every = {
        "user": profile.by_user,
        "application": profile.by_application,
        "database": profile.by_database,
        "backend type": profile.by_backend_type,
    }
    return [(name, rows[0].name or UNKNOWN) for name, rows in every.items() if len(rows) == 1]


def dimensions(profile: ServerProfile) -> list[tuple[str, Table]]:
    """By user, application, database and backend type, where there are several."""
    every = {
        "user": profile.by_user,
        "application": profile.by_application,
        "database": profile.by_database,
        "backend type": profile.by_backend_type,
    }
    return [(name, _dimension(profile, name, rows)) for name, rows in every.items() if len(rows) > 1]


def _dimension(profile: ServerProfile, name: str, shares: Sequence[Share]) -> Table:
    times = time_unit(share.ns.estimate for share in shares)
    bars = _bars(profile, shares)
    rows = [[Cell(share.name or UNKNOWN), *_cells(share, times, bars)] for share in shares]
    table = Table(
        f"by-{name.replace(' ', '-')}", [Column(name, figures=False), *_columns(times)], [Section(None, rows)]
    )
    return _placed(table, [share.rank_group for share in shares])


def sessions(profile: ServerProfile) -> Table | None:
    """The sessions with the most database time, their parallel workers' included."""
    shown = profile.by_session[:MOST_SESSIONS]
    if not shown:
        return None
    times = time_unit(session.ns.estimate for session in shown)
    bars = _bars(profile, shown)
    columns = [
        Column("session", figures=False),
        Column("who", figures=False),
        *_columns(times),
        Column("idle in transaction", "s"),
        Column("parallel workers"),
    ]
    rows = [
        [
            Cell(f"PID {session.pid}"),
            Cell(_who(session), session.application or ""),
            *_cells(session, times, bars),
            Cell(number(session.idle_in_transaction_ns / 1e9)),
            Cell(whole(session.parallel_workers)),
        ]
        for session in shown
    ]
    return Table("sessions", columns, [Section(None, rows)])


def _who(session: SessionTime) -> str:
    at = f"{session.user or UNKNOWN} on {session.database}" if session.database else session.user or ""
    return at or session.backend_type


def _bars(profile: ServerProfile, rows: Sequence[Row]) -> SmallBars:
    return SmallBars(looks.fills(profile), [row.profile_ns.parts() for row in rows])


def _columns(times: Unit) -> list[Column]:
    return [
        Column("what it went into", figures=False),
        Column("database time", times.name),
        Column("share"),
    ]


def _cells(row: Row, times: Unit, bars: SmallBars) -> list[Cell]:
    return [
        Cell(longest_words(row.profile_ns.parts(), part_name), "", bars.of(row.profile_ns.parts())),
        Cell(times.text(row.ns.estimate), looks.interval(row.ns, times)),
        Cell(percent(row.share.estimate), looks.interval(row.share, Unit("%", 0.01))),
    ]


def _call_cells(query: QueryTime, unit: Unit) -> list[Cell]:
    return [
        Cell("" if query.calls is None else whole(query.calls)),
        Cell("" if query.ns_per_call is None else unit.text(query.ns_per_call)),
    ]


def _placed(table: Table, groups: Sequence[int]) -> Table:
    """The table with a column of places behind the shares."""
    columns = [*table.columns[:PLACE_AT], Column("place"), *table.columns[PLACE_AT:]]
    rows = [
        [*row[:PLACE_AT], Cell(rank_words(group, groups)), *row[PLACE_AT:]]
        for row, group in zip(table.sections[0].rows, groups, strict=True)
    ]
    return Table(table.id, columns, [Section(None, rows)])
