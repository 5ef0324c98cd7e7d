"""Figures of the database before and after the work of a trial, as pairs of bars."""

from __future__ import annotations

from collections.abc import Sequence

from dbdyno.analysis.findings import Estimate, Outcome
from dbdyno.report.html import palette
from dbdyno.report.html.arrangement import Arrangement, Group, Placed
from dbdyno.report.html.chart import Chart, Json, Key, Panel, literal, panel, title
from dbdyno.report.html.palette import Fill
from dbdyno.report.html.quantity import Unit, byte_unit
from dbdyno.report.html.rows import Row, lay_out
from dbdyno.report.html.table import Cell, Column, Section, Table
from dbdyno.report.naming import outcome_name

BAR_PX = 11
AXIS_PX = 46
BEFORE, AFTER = Fill(palette.NEUTRAL), Fill(palette.BETTER)

Pair = tuple[Placed, Outcome]


def chart(arrangement: Arrangement) -> Chart | None:
    """A panel for each figure in each group; None where the experiment asks for none."""
    names = list(dict.fromkeys(outcome.name for one in arrangement.placed() for outcome in one.arm.outcomes))
    if not names:
        return None
    panels = [
        _panel(group, name, pairs)
        for name in names
        for group in arrangement.groups
        if (pairs := [(one, outcome) for one in group.placed for outcome in one.arm.outcomes if outcome.name == name])
    ]
    return Chart(
        id="outcomes",
        short="Before and after",
        heading="The database before and after the work",
        caption="Figures that the experiment asks of the database, before and after the work of a trial.",
        reading=(
            "The upper bar of a pair is the figure after the reset and before the work, the lower one the figure after "
            "it, both estimated over trials. Arms that begin alike and end differently did different things to the "
            "database for the same work."
        ),
        panels=panels,
        keys=[Key("before", BEFORE), Key("after", AFTER)],
        columns=2,
        tables=[("The same as figures", _table(arrangement))],
    )


def unit_of(name: str, outcomes: Sequence[Outcome]) -> Unit:
    """Sizes have a unit of size, other figures none."""
    if not outcome_name(name)[1]:
        return Unit("", 1.0)
    return byte_unit(value.estimate for one in outcomes for value in (one.before, one.after))


def _with_unit(words: str, unit: Unit) -> str:
    return f"{words}, {unit.name}" if unit.name else words


def _panel(group: Group, name: str, pairs: list[Pair]) -> Panel:
    words, _ = outcome_name(name)
    unit = unit_of(name, [outcome for _, outcome in pairs])
    labels = [(one.label, f"{unit.text(it.before.estimate)} → {unit.text(it.after.estimate)}") for one, it in pairs]
    rows = lay_out(labels, 2 * BAR_PX)
    return panel(
        words if group.name is None else f"{group.name}: {words}",
        f"{words}, before and after: " + "; ".join(f"{label} {change}" for label, change in labels) + ".",
        rows.height_px + AXIS_PX,
        [
            _bars(pairs, rows.rows, unit, "before", BEFORE, -0.5),
            _bars(pairs, rows.rows, unit, "after", AFTER, 0.5),
        ],
        x={
            "title": title(literal(f"{words}, {unit.name}" if unit.name else words)),
            "rangemode": "tozero",
            "nticks": 6,
        },
        y=rows.axis(),
        annotations=rows.notes,
        barmode="overlay",
        bargap=0,
    )


def _bars(pairs: list[Pair], rows: Sequence[Row], unit: Unit, moment: str, fill: Fill, place: float) -> Json:
    values = [(it.before if moment == "before" else it.after).estimate for _, it in pairs]
    return {
        "type": "bar",
        "orientation": "h",
        "name": moment,
        "x": [value / unit.size for value in values],
        "y": [row.middle_px + place * BAR_PX for row in rows],
        "width": BAR_PX,
        "marker": {"color": fill.colour, "line": {"width": 0}},
        "text": [
            f"<b>{literal(one.arm.arm)}</b><br>{moment}: {unit.named(value)}"
            for (one, _), value in zip(pairs, values, strict=True)
        ],
        "textposition": "none",
        "hovertemplate": "%{text}<extra></extra>",
    }


def _table(arrangement: Arrangement) -> Table:
    """One row a figure and arm, with intervals."""
    placed = [one for one in arrangement.placed() if one.arm.outcomes]
    names = dict.fromkeys(outcome.name for one in placed for outcome in one.arm.outcomes)
    columns = [Column("arm", figures=False), Column("before"), Column("after"), Column("change")]
    sections = []
    for name in names:
        pairs = [(one, outcome) for one in placed for outcome in one.arm.outcomes if outcome.name == name]
        unit = unit_of(name, [outcome for _, outcome in pairs])
        words = _with_unit(outcome_name(name)[0], unit)
        sections.append(Section(words, [_row(one, outcome, unit) for one, outcome in pairs]))
    return Table("outcomes", columns, sections)


def _row(one: Placed, outcome: Outcome, unit: Unit) -> list[Cell]:
    return [Cell(one.arm.arm), *(_cell(value, unit) for value in (outcome.before, outcome.after, outcome.difference))]


def _cell(value: Estimate, unit: Unit) -> Cell:
    if value.low is None or value.high is None or value.low == value.high:
        return Cell(unit.text(value.estimate))
    return Cell(unit.text(value.estimate), f"{unit.text(value.low)} to {unit.text(value.high)}")
