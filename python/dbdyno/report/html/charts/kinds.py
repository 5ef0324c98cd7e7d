"""Response time by kind of transaction: three percentiles of each kind, arm beside arm."""

from __future__ import annotations

from dbdyno.analysis.findings import ScriptTimes
from dbdyno.report.html import palette
from dbdyno.report.html.arrangement import Arrangement, Group, Placed
from dbdyno.report.html.chart import GREY, Chart, Json, Key, Panel, literal, panel
from dbdyno.report.html.palette import Mark
from dbdyno.report.html.quantity import Unit, number, time_unit, whole
from dbdyno.report.html.rows import Row, lay_out
from dbdyno.report.html.scale import time_axis
from dbdyno.report.html.table import Cell, Column, Section, Table
from dbdyno.report.naming import script_name

BAND_PX = 16
AXIS_PX = 42
SYMBOLS = {"p50": "circle", "p95": "diamond", "p99": "square-open"}

Pair = tuple[Placed, ScriptTimes]


def chart(arrangement: Arrangement) -> Chart | None:
    """A panel for each kind in each group, all on one axis; None where no arm has more than one kind."""
    mixed = [one for one in arrangement.placed() if len(one.arm.by_script) > 1]
    if not mixed:
        return None
    figures = [value for one in mixed for kind in one.arm.by_script for value in percentiles(kind).values()]
    axis = time_axis(min(figures) / 1.25, max(figures) * 1.25)
    scripts = list(dict.fromkeys(kind.script for one in mixed for kind in one.arm.by_script))
    several = len(arrangement.groups) > 1
    panels = [
        _panel(group if several else None, script, pairs, axis)
        for group in arrangement.groups
        for script in scripts
        if (pairs := _having(group, script))
    ]
    return Chart(
        id="kinds",
        short="Kinds of transactions",
        heading="Response time by kind of transaction",
        caption="Median, p95 and p99 of each kind in each arm, on one logarithmic scale for all panels.",
        reading=(
            "Each row is one arm, and its marks are the response times that half, 95 % and 99 % of the units of that "
            "kind did not exceed. A change that is good for the whole may be bad for one kind: look for the panel "
            "whose marks moved the other way."
        ),
        panels=panels,
        keys=[Key(name, Mark(palette.NEUTRAL, symbol)) for name, symbol in SYMBOLS.items()],
        columns=2,
        tables=[("The same as figures", _table(arrangement))],
    )


def percentiles(kind: ScriptTimes) -> dict[str, float]:
    """The three figures that are drawn."""
    times = kind.response_time_ns
    return {"p50": times.p50.estimate, "p95": times.p95.estimate, "p99": times.p99.estimate}


def _having(group: Group, script: str) -> list[Pair]:
    return [(one, kind) for one in group.placed for kind in one.arm.by_script if kind.script == script]


def _panel(group: Group | None, script: str, pairs: list[Pair], axis: Json) -> Panel:
    unit = time_unit(value for _, kind in pairs for value in percentiles(kind).values())
    rows = lay_out([(one.label, _words(kind, unit)) for one, kind in pairs], BAND_PX)
    name = script_name(script)
    return panel(
        name if group is None or group.name is None else f"{group.name}: {name}",
        f"Response times of {name}: "
        + "; ".join(f"{one.label} {_words(kind, unit)} for p50, p95 and p99" for one, kind in pairs),
        rows.height_px + AXIS_PX,
        [_marks(one, kind, row) for (one, kind), row in zip(pairs, rows.rows, strict=True)],
        x=axis,
        y=rows.axis(),
        annotations=rows.notes,
    )


def _words(kind: ScriptTimes, unit: Unit) -> str:
    return f"{' · '.join(unit.text(value) for value in percentiles(kind).values())} {unit.name}"


def _marks(one: Placed, kind: ScriptTimes, row: Row) -> Json:
    found = percentiles(kind)
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": literal(one.label),
        "x": list(found.values()),
        "y": [row.middle_px] * len(found),
        "line": {"color": GREY, "width": 2},
        "marker": {"color": one.mark.colour, "symbol": list(SYMBOLS.values()), "size": 9, "line": {"width": 2}},
        "text": [
            f"<b>{literal(one.arm.arm)}</b><br>{literal(script_name(kind.script))}<br>"
            f"{name} {time_unit([value]).named(value)}"
            for name, value in found.items()
        ],
        "hovertemplate": "%{text}<extra></extra>",
        "cliponaxis": False,
    }


def _table(arrangement: Arrangement) -> Table:
    mixed = [one.arm for one in arrangement.placed() if len(one.arm.by_script) > 1]
    unit = time_unit(kind.response_time_ns.p95.estimate for arm in mixed for kind in arm.by_script)
    columns = [
        Column("kind", figures=False),
        Column("throughput", "per s"),
        *(Column(name, unit.name) for name in ("mean", "p50", "p95", "p99")),
        Column("successful"),
        Column("failed"),
    ]
    return Table("kinds", columns, [Section(arm.arm, [_row(kind, unit) for kind in arm.by_script]) for arm in mixed])


def _row(kind: ScriptTimes, unit: Unit) -> list[Cell]:
    return [
        Cell(script_name(kind.script)),
        Cell(number(kind.throughput_per_s.estimate)),
        Cell(unit.text(kind.response_time_ns.mean.estimate)),
        *(Cell(unit.text(value)) for value in percentiles(kind).values()),
        Cell(whole(kind.successful)),
        Cell(whole(kind.failed)),
    ]
