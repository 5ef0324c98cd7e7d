"""Where the time of a unit of work goes: one stacked bar for each arm, one panel for each group."""

from __future__ import annotations

from collections.abc import Sequence

from dbdyno.analysis.findings import Arm, Estimate, event_note
from dbdyno.report.html import palette
from dbdyno.report.html.arrangement import Arrangement, Group
from dbdyno.report.html.chart import Chart, Key, Panel
from dbdyno.report.html.palette import Fill
from dbdyno.report.html.quantity import Unit, time_unit
from dbdyno.report.html.stacked import Part, Stack, stacked_panel
from dbdyno.report.html.table import Cell, Column, Section, Table
from dbdyno.report.naming import part_name

# A wait that is less than this share of the response time in every arm is drawn together with its like.
SMALL_WAIT_SHARE = 0.005
SMALL_WAITS = "other waits, each under 0.5 %"


def chart(arrangement: Arrangement) -> Chart | None:
    """The stacked profiles, with every figure in a table beneath; None where there is no arm."""
    if not arrangement.groups:
        return None
    parts = stack_parts(arrangement)
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
            "the parts together exceed the response time by that much. A whisker at the end of a large part is the "
            "95 % interval of its length." + _what_names_do_not_say(arrangement)
        ),
        panels=[_panel(group, parts) for group in arrangement.groups],
        keys=[Key(part.name, part.fill) for part in parts],
        tables=[("The same as figures", _table(arrangement))],
    )


def _what_names_do_not_say(arrangement: Arrangement) -> str:
    """A sentence for each wait event here whose name a reader would mistake."""
    return "".join(f" {event} is {note}." for event in arrangement.wait_fills if (note := event_note(event)))


def stack_parts(arrangement: Arrangement) -> list[Part]:
    """Every part that has some time in some arm, in stacking order."""
    small = _small_waits(arrangement)
    large = {event: fill for event, fill in arrangement.wait_fills.items() if event not in small}
    parts = [
        *(Part(part_name(key), fill, (key,)) for key, fill in (BEFORE_WAITS | large).items()),
        Part(SMALL_WAITS, Fill(palette.SMALL_WAITS), small),
        *(Part(part_name(key), fill, (key,)) for key, fill in AFTER_WAITS.items()),
    ]
    return [part for part in parts if any(part.time(one.arm.profile_ns.parts()) for one in arrangement.placed())]


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
    return stacked_panel(
        group.name,
        f"Time profile of {len(group.placed)} arms: a stacked bar for each, in {unit.name} for one unit of work.",
        [
            Stack(one.label, one.arm.profile_total_ns, one.arm.profile_ns.parts(), _intervals(one.arm))
            for one in group.placed
        ],
        parts,
        unit,
        f"{unit.name} for one unit of work",
    )


def _intervals(arm: Arm) -> dict[str, Estimate]:
    return {} if arm.intervals is None else {part.part: part.ns for part in arm.intervals.parts}


def _table(arrangement: Arrangement) -> Table:
    """Every part of every arm, the small waits too."""
    placed = arrangement.placed()
    unit = time_unit(one.arm.profile_total_ns for one in placed)
    profiles = [one.arm.profile_ns.parts() for one in placed]
    intervals = [_intervals(one.arm) for one in placed]
    seen = {key for profile in profiles for key, ns in profile.items() if ns}
    keys = [key for key in (*BEFORE_WAITS, *arrangement.wait_fills, *AFTER_WAITS) if key in seen]
    rows = [
        [
            Cell(part_name(key)),
            *(_cell(profile.get(key), ends.get(key), unit) for profile, ends in zip(profiles, intervals, strict=True)),
        ]
        for key in keys
    ]
    totals = [Cell("response time"), *(Cell(unit.text(one.arm.profile_total_ns)) for one in placed)]
    columns = [Column("part", figures=False), *(Column(one.arm.arm, unit.name) for one in placed)]
    return Table("profile-figures", columns, [Section(None, rows), Section(None, [totals])])


def _cell(time: float | None, interval: Estimate | None, unit: Unit) -> Cell:
    if interval is None or interval.low is None or interval.high is None:
        return Cell("" if time is None else unit.text(time))
    return Cell("" if time is None else unit.text(time), f"{unit.text(interval.low)} to {unit.text(interval.high)}")
