"""Where the time of a unit of work goes: one stacked bar for each arm, one panel for each group."""

from __future__ import annotations

from collections.abc import Sequence

from dbdyno.analysis.findings import TimeProfile
from dbdyno.report.html import palette
from dbdyno.report.html.arrangement import Arrangement, Group
from dbdyno.report.html.chart import GREY, Chart, Json, Key, Panel, literal, panel
from dbdyno.report.html.palette import Fill
from dbdyno.report.html.quantity import Unit, time_unit
from dbdyno.report.html.rows import Rows, lay_out
from dbdyno.report.html.table import Cell, Column, Section, Table

BAND_PX = 24
AXIS_PX = 46

QUEUE, CPU, RUN_QUEUE = "queue", "CPU", "run queue"
ASLEEP, CLIENT, UNACCOUNTED = "asleep without a wait event", "client and network", "unaccounted"

Part = tuple[str, Fill]


def chart(arrangement: Arrangement) -> Chart:
    """The stacked profiles, with every figure in a table beneath."""
    parts = _parts(arrangement)
    return Chart(
        id="profile",
        short="Time profiles",
        heading="Where the time of a unit of work goes",
        caption="Mean response time of one unit of work, split into its parts; each panel has its own scale.",
        reading=(
            "Each bar is one arm, and its whole length is the mean response time. "
            "CPU is time on a processor; run queue is time ready to run while no processor was free; "
            "a name such as IO:WalSync is time asleep in that wait, under the server's own name for it. "
            "Hatched grey is what no measurement explains; where it lies left of zero, "
            "the parts together exceed the response time by that much."
        ),
        panels=[_panel(group, parts) for group in arrangement.groups],
        keys=[Key(name, fill) for name, fill in parts],
        table=_table(arrangement, [name for name, _ in parts]),
        table_title="The same as figures",
    )


def values(profile: TimeProfile) -> dict[str, float | None]:
    """Part to nanoseconds; None is a part that could not be measured."""
    before: dict[str, float | None] = {QUEUE: profile.queue, CPU: profile.cpu, RUN_QUEUE: profile.run_queue}
    after: dict[str, float | None] = {
        ASLEEP: profile.asleep_no_wait_event,
        CLIENT: profile.client_and_network,
        UNACCOUNTED: profile.unaccounted,
    }
    return before | profile.waits | after


def _parts(arrangement: Arrangement) -> list[Part]:
    """Every part that has some time in some arm, in stacking order."""
    profiles = [values(one.arm.profile_ns) for one in arrangement.placed()]
    everything: list[Part] = [
        (QUEUE, Fill(palette.QUEUE)),
        (CPU, Fill(palette.CPU)),
        (RUN_QUEUE, Fill(palette.RUN_QUEUE)),
        *arrangement.wait_fills.items(),
        (ASLEEP, Fill(palette.ASLEEP)),
        (CLIENT, Fill(palette.CLIENT)),
        (UNACCOUNTED, Fill(palette.UNACCOUNTED, "/")),
    ]
    return [part for part in everything if any(profile.get(part[0]) for profile in profiles)]


def _panel(group: Group, parts: Sequence[Part]) -> Panel:
    means = [one.arm.response_time_ns.mean.estimate for one in group.placed]
    unit = time_unit(means)
    rows = lay_out([(one.label, unit.named(mean)) for one, mean in zip(group.placed, means, strict=True)], BAND_PX)
    traces = [trace for name, fill in parts if (trace := _bars(group, name, fill, rows, unit))]
    return panel(
        group.name,
        f"Time profile of {len(rows.rows)} arms: a stacked bar for each, in {unit.name} for one unit of work.",
        rows.height_px + AXIS_PX,
        traces,
        x={"title": {"text": f"{unit.name} for one unit of work", "standoff": 6}, "rangemode": "tozero"},
        y=rows.axis(),
        annotations=rows.notes,
        barmode="relative",
        bargap=0,
        shapes=[_zero(rows)],
    )


def _bars(group: Group, name: str, fill: Fill, rows: Rows, unit: Unit) -> Json | None:
    """One part in all arms of the group; None where no arm has any of it."""
    times = [values(one.arm.profile_ns).get(name) or 0.0 for one in group.placed]
    if not any(times):
        return None
    return {
        "type": "bar",
        "orientation": "h",
        "name": literal(name),
        "x": [time / unit.size for time in times],
        "y": [row.middle_px for row in rows.rows],
        "width": BAND_PX,
        "marker": {
            "color": fill.colour,
            "line": {"width": 0},
            "pattern": {"shape": fill.hatch, "size": 6, "solidity": 0.4},
        },
        "text": [
            f"{literal(name)}<br>{literal(one.label)}: {unit.named(time)}"
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


def _table(arrangement: Arrangement, parts: Sequence[str]) -> Table:
    placed = arrangement.placed()
    unit = time_unit(one.arm.response_time_ns.mean.estimate for one in placed)
    columns = [
        Column("part", figures=False),
        *(Column(one.arm.arm, unit.name) for one in placed),
    ]
    profiles = [values(one.arm.profile_ns) for one in placed]
    rows = [[Cell(part), *(_cell(profile.get(part, 0.0), unit) for profile in profiles)] for part in parts]
    means = [Cell(unit.text(one.arm.response_time_ns.mean.estimate)) for one in placed]
    return Table("profile-figures", columns, [Section(None, rows), Section(None, [[Cell("response time"), *means]])])


def _cell(time: float | None, unit: Unit) -> Cell:
    return Cell("unknown" if time is None else unit.text(time))
