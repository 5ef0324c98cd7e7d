"""Where the time of a unit of work goes: one stacked bar for each arm, one panel for each group."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from dbdyno.report.html import palette
from dbdyno.report.html.arrangement import Arrangement, Group
from dbdyno.report.html.chart import GREY, Chart, Json, Key, Panel, literal, panel, title
from dbdyno.report.html.palette import Fill
from dbdyno.report.html.quantity import Unit, time_unit
from dbdyno.report.html.rows import Rows, lay_out
from dbdyno.report.html.table import Cell, Column, Section, Table
from dbdyno.report.naming import part_name

BAND_PX = 24
AXIS_PX = 46


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """A part of the profile: its key in the findings, its name in the report, its fill."""

    key: str
    name: str
    fill: Fill


def chart(arrangement: Arrangement) -> Chart | None:
    """The stacked profiles, with every figure in a table beneath; None where there is no arm."""
    if not arrangement.groups:
        return None
    parts = _parts(arrangement)
    return Chart(
        id="profile",
        short="Time profiles",
        heading="Where the time of a unit of work goes",
        caption="Mean response time of one unit of work over all units of the arm, in parts that sum to it.",
        reading=(
            "Each bar is one arm, and its whole length is the mean response time; each panel has its own scale. "
            "CPU is time on a processor; run queue is time ready to run while no processor was free; "
            "a name such as IO:WalSync is time asleep in that wait, under the server's own name for it. "
            "Hatched grey is what no measurement explains; where it lies left of zero, "
            "the parts together exceed the response time by that much."
        ),
        panels=[_panel(group, parts) for group in arrangement.groups],
        keys=[Key(part.name, part.fill) for part in parts],
        tables=[("The same as figures", _table(arrangement, parts))],
    )


def _parts(arrangement: Arrangement) -> list[Part]:
    """Every part that has some time in some arm, in stacking order."""
    seen = {key for one in arrangement.placed() for key, ns in one.arm.profile_ns.parts().items() if ns}
    everything = {
        "queue": Fill(palette.QUEUE),
        "cpu": Fill(palette.CPU),
        "run_queue": Fill(palette.RUN_QUEUE),
        **arrangement.wait_fills,
        "asleep_no_wait_event": Fill(palette.ASLEEP),
        "client_and_network": Fill(palette.CLIENT),
        "unaccounted": Fill(palette.UNACCOUNTED, "/"),
    }
    return [Part(key, part_name(key), fill) for key, fill in everything.items() if key in seen]


def _panel(group: Group, parts: Sequence[Part]) -> Panel:
    unit = time_unit(one.arm.profile_total_ns for one in group.placed)
    rows = lay_out([(one.label, unit.named(one.arm.profile_total_ns)) for one in group.placed], BAND_PX)
    traces = [trace for part in parts if (trace := _bars(group, part, rows, unit))]
    return panel(
        group.name,
        f"Time profile of {len(rows.rows)} arms: a stacked bar for each, in {unit.name} for one unit of work.",
        rows.height_px + AXIS_PX,
        traces,
        x={"title": title(f"{unit.name} for one unit of work"), "rangemode": "tozero"},
        y=rows.axis(),
        annotations=rows.notes,
        barmode="relative",
        bargap=0,
        shapes=[_zero(rows)],
    )


def _bars(group: Group, part: Part, rows: Rows, unit: Unit) -> Json | None:
    """One part in all arms of the group; None where no arm has any of it."""
    times = [one.arm.profile_ns.parts().get(part.key, 0.0) for one in group.placed]
    if not any(times):
        return None
    name = literal(part.name)
    return {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "x": [time / unit.size for time in times],
        "y": [row.middle_px for row in rows.rows],
        "width": BAND_PX,
        "marker": {
            "color": part.fill.colour,
            "line": {"width": 0},
            "pattern": {"shape": part.fill.hatch, "size": 6, "solidity": 0.4},
        },
        "text": [
            f"<b>{name}</b><br>{literal(one.label)}: {unit.named(time)}"
            for one, time in zip(group.placed, times, strict=True)
        ],
        "textposition": "none",
        "hovertemplate": "%{text}<extra></extra>",
    }


def _zero(rows: Rows) -> Json:
    return {
        "type": "line", "x0": 0, "x1": 0, "y0": 0, "y1": rows.height_px, "layer": "below",
        "line": {"color": GREY, "width": 1},
    }  # fmt: skip


def _table(arrangement: Arrangement, parts: Sequence[Part]) -> Table:
    placed = arrangement.placed()
    unit = time_unit(one.arm.profile_total_ns for one in placed)
    profiles = [one.arm.profile_ns.parts() for one in placed]
    rows = [[Cell(part.name), *(_cell(profile.get(part.key), unit) for profile in profiles)] for part in parts]
    totals = [Cell("response time"), *(Cell(unit.text(one.arm.profile_total_ns)) for one in placed)]
    columns = [Column("part", figures=False), *(Column(one.arm.arm, unit.name) for one in placed)]
    return Table("profile-figures", columns, [Section(None, rows), Section(None, [totals])])


def _cell(time: float | None, unit: Unit) -> Cell:
    return Cell("" if time is None else unit.text(time))
