"""Where the time of a unit of work goes: one stacked bar for each arm, one panel for each group."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from dbdyno.analysis.findings import Arm
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


# A wait that is less than this share of the response time in every arm is drawn together with its like.
SMALL_WAIT_SHARE = 0.005
SMALL_WAITS = "other waits, each under 0.5 %"


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """A part of the drawing: its name, its fill, and the parts of the profile that it holds."""

    name: str
    fill: Fill
    keys: tuple[str, ...]

    def time(self, arm: Arm) -> float:
        """Its nanoseconds in an arm; a part that is not known takes no room."""
        parts = arm.profile_ns.parts()
        return sum(parts.get(key, 0.0) for key in self.keys)


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
        tables=[("The same as figures", _table(arrangement))],
    )


def _parts(arrangement: Arrangement) -> list[Part]:
    """Every part that has some time in some arm, in stacking order."""
    small = _small_waits(arrangement)
    large = {event: fill for event, fill in arrangement.wait_fills.items() if event not in small}
    parts = [
        *(Part(part_name(key), fill, (key,)) for key, fill in (BEFORE_WAITS | large).items()),
        Part(SMALL_WAITS, Fill(palette.SMALL_WAITS), small),
        *(Part(part_name(key), fill, (key,)) for key, fill in AFTER_WAITS.items()),
    ]
    return [part for part in parts if any(part.time(one.arm) for one in arrangement.placed())]


BEFORE_WAITS = {"queue": Fill(palette.QUEUE), "cpu": Fill(palette.CPU), "run_queue": Fill(palette.RUN_QUEUE)}
AFTER_WAITS = {
    "asleep_no_wait_event": Fill(palette.ASLEEP),
    "client_and_network": Fill(palette.CLIENT),
    "unaccounted": Fill(palette.UNACCOUNTED, "/"),
}


def _small_waits(arrangement: Arrangement) -> tuple[str, ...]:
    """The wait events that are small in every arm; one alone keeps its name."""
    arms = [one.arm for one in arrangement.placed()]
    small = tuple(
        event
        for event in arrangement.wait_fills
        if all(arm.profile_ns.waits.get(event, 0.0) < SMALL_WAIT_SHARE * arm.profile_total_ns for arm in arms)
    )
    return small if len(small) > 1 else ()


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
    times = [part.time(one.arm) for one in group.placed]
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


def _table(arrangement: Arrangement) -> Table:
    """Every part of every arm, the small waits too."""
    placed = arrangement.placed()
    unit = time_unit(one.arm.profile_total_ns for one in placed)
    profiles = [one.arm.profile_ns.parts() for one in placed]
    seen = {key for profile in profiles for key, ns in profile.items() if ns}
    keys = [key for key in (*BEFORE_WAITS, *arrangement.wait_fills, *AFTER_WAITS) if key in seen]
    rows = [[Cell(part_name(key)), *(_cell(profile.get(key), unit) for profile in profiles)] for key in keys]
    totals = [Cell("response time"), *(Cell(unit.text(one.arm.profile_total_ns)) for one in placed)]
    columns = [Column("part", figures=False), *(Column(one.arm.arm, unit.name) for one in placed)]
    return Table("profile-figures", columns, [Section(None, rows), Section(None, [totals])])


def _cell(time: float | None, unit: Unit) -> Cell:
    return Cell("" if time is None else unit.text(time))
