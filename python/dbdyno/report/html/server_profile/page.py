"""Puts the page of a server's profile together: findings first, then what they rest on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from dbdyno.analysis.server_profile.findings import Evidence, ServerProfile
from dbdyno.report.html.document import rendered
from dbdyno.report.html.flame import FlameGraph, drawn
from dbdyno.report.html.flame_svg import flame_graph_of
from dbdyno.report.html.quantity import Unit, byte_unit, number, time_unit, whole
from dbdyno.report.html.server_profile import (
    active_sessions,
    background,
    blockers,
    heat_maps,
    io,
    io_tables,
    measured,
    parts,
    shares,
)
from dbdyno.report.numbers import percent


def write(profile: ServerProfile, path: Path, flame_graphs: Sequence[FlameGraph] = ()) -> None:
    """The page as a file."""
    path.write_text(page(profile, flame_graphs), encoding="utf-8")


def page(profile: ServerProfile, flame_graphs: Sequence[FlameGraph] = ()) -> str:
    """The whole profile as one self-contained HTML text."""
    own = [flame_graph_of("The sessions' database time", profile.stacks)] if profile.stacks else []
    possible = {
        "sessions": active_sessions.chart(profile),
        "parts": parts.chart(profile),
        "lengths": heat_maps.chart(profile),
        "io": io.chart(profile),
        "background": background.chart(profile),
    }
    named = {name: chart for name, chart in possible.items() if chart is not None}
    return rendered(
        "server_profile.html.j2",
        list(named.values()),
        named=named,
        places={name: place for place, name in enumerate(named, 1)},
        profile=profile,
        summary=_summary(profile),
        evidence=_evidence,
        at_stake=_at_stake,
        queries=shares.queries(profile),
        long_queries=shares.long_queries(profile),
        undivided=shares.undivided(profile),
        dimensions=shares.dimensions(profile),
        sessions=shares.sessions(profile),
        blockers=blockers.trees(profile),
        most_trees=blockers.MOST_OPEN,
        io_tables=io_tables.tables(profile),
        io_workers=background.io_workers(profile),
        flames=[drawn(graph, place) for place, graph in enumerate([*own, *flame_graphs], 1)],
        measured=measured.definitions(profile),
    )


def _summary(profile: ServerProfile) -> str:
    """One line: when, how long, how much."""
    words = [f"PostgreSQL {profile.server_version}"]
    if profile.started_at:
        words.append(f"{datetime.fromisoformat(profile.started_at).astimezone(UTC):%Y-%m-%d %H:%M} UTC")
    words.append(f"{number(profile.seconds)} s watched")
    database_time_ns = profile.database_time_ns.estimate
    words.append(f"{time_unit([database_time_ns]).named(database_time_ns)} of database time")
    words.append(f"{number(profile.active_sessions_mean.estimate)} sessions active on average")
    if profile.commits is not None:
        words.append(f"{whole(profile.commits.count)} commits")
    return " · ".join([*words, "intervals are 95 % intervals"])


def _at_stake(profile: ServerProfile, seconds: float) -> str:
    """The time that a finding is about, beside the whole."""
    whole_s = profile.database_time_ns.estimate / 1e9
    share = f", {percent(seconds / whole_s)} of the database time" if 0 < seconds <= whole_s else ""
    return f"{number(seconds)} s at stake{share}"


def _evidence(evidence: Evidence) -> str:
    """One figure behind a finding, with its interval."""
    figure = evidence.figure
    if evidence.unit == "share":
        return f"{evidence.what}: {_ends(Unit('%', 0.01), figure.estimate, figure.low, figure.high)}"
    units = {"ns": time_unit, "bytes": byte_unit}
    unit = units[evidence.unit]([figure.estimate]) if evidence.unit in units else Unit(_UNITS[evidence.unit], 1.0)
    return f"{evidence.what}: {_ends(unit, figure.estimate, figure.low, figure.high)}"


_UNITS = {"s": "s", "sessions": "sessions", "count": ""}


def _ends(unit: Unit, estimate: float, low: float | None, high: float | None) -> str:
    interval = "" if low is None or high is None else f" ({unit.text(low)} to {unit.text(high)})"
    return f"{unit.named(estimate).rstrip()}{interval}"
