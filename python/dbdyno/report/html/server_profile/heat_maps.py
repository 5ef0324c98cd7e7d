"""How long the waits were, over time: a heat map for each event of weight."""

from __future__ import annotations

from dbdyno.analysis.server_profile.findings import HeatMap, ServerProfile
from dbdyno.report.html.chart import Chart
from dbdyno.report.html.heat_map import Lengths, heat_panel, lengths_table, shade_key
from dbdyno.report.html.quantity import time_unit, whole
from dbdyno.report.html.table import Cell, Column, Section, Table

MOST_MAPS = 8


def chart(profile: ServerProfile) -> Chart | None:
    """The heat maps; None where no wait was seen from its beginning to its end."""
    maps = [one for one in profile.heat_maps if one.cells]
    if not maps:
        return None
    shown = [_lengths(one) for one in maps[:MOST_MAPS]]
    rest = f" {len(maps) - len(shown)} more events stand in the table." if len(maps) > len(shown) else ""
    return Chart(
        id="lengths",
        short="Lengths of waits",
        heading="How long the waits were",
        caption=(
            "Waits by their length (upwards, logarithmic) and by when they ended (to the right); the fuller the "
            f"colour, the more of them, on a logarithmic scale of each panel.{rest}"
        ),
        reading=(
            "A wait is seen from one change of a session’s wait event to the next. Two bands are two ways in which "
            "the same wait ends, such as a cache and a disk; a band that climbs is a resource that slows down; lone "
            "cells high up are stalls. In the shaded strip waits are shorter than the period of the snapshots: most "
            "of them are missed."
        ),
        panels=[heat_panel(lengths) for lengths in shown],
        keys=shade_key([lengths.event for lengths in shown]),
        columns=2,
        tables=[
            ("How many, how long", _table(maps)),
            ("Waits of each length", lengths_table("lengths-figures", [_lengths(one) for one in maps])),
        ],
    )


def _lengths(one: HeatMap) -> Lengths:
    return Lengths(one.event, one.event, one.steps, one.step_ns, one.bins_per_decade, one.shortest_ns, one.cells)


def _table(maps: list[HeatMap]) -> Table:
    medians, longest = time_unit(one.median_ns for one in maps), time_unit(one.longest_ns for one in maps)
    rows = [
        [
            Cell(one.event),
            Cell(whole(one.count)),
            Cell(medians.text(one.median_ns)),
            Cell(longest.text(one.longest_ns)),
        ]
        for one in maps
    ]
    columns = [
        Column("wait event", figures=False),
        Column("waits seen"),
        Column("median", medians.name),
        Column("longest", longest.name),
    ]
    return Table("lengths", columns, [Section(None, rows)])
