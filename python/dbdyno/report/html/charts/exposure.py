"""Risk beside speed: how many acknowledged commits a crash of the server's machine would have lost."""

from __future__ import annotations

import math

from dbdyno.analysis.findings import Exposure, Spread
from dbdyno.report.html.arrangement import Arrangement, Group, Placed
from dbdyno.report.html.chart import Chart, Json, Key, Panel, literal, panel, title
from dbdyno.report.html.quantity import Unit, byte_unit, number, time_unit, whole
from dbdyno.report.html.table import Cell, Column, Section, Table

HEIGHT_PX = 260

Exposed = list[tuple[Placed, Exposure]]


def chart(arrangement: Arrangement) -> Chart | None:
    """One panel for each group and a table; None where exposure was not sampled."""
    groups = [(group, exposed) for group in arrangement.groups if (exposed := _exposed(group))]
    if not groups:
        return None
    everything = [pair for _, exposed in groups for pair in exposed]
    counted = [(group, exposed) for group, exposed in groups if any(one.commits for _, one in exposed)]
    return Chart(
        id="exposure",
        short="Risk and speed",
        heading="What a crash would lose, beside the speed",
        caption=(
            "Acknowledged commits not yet on disk (95th percentile over the windows) against throughput; "
            "right is faster, up is riskier."
        ),
        reading=(
            "What a crash can lose is the WAL that was inserted but not yet flushed, sampled during the windows. "
            "Where synchronous_commit is off, commits in it were already acknowledged: a crash of the operating system "
            "or a power failure at that moment loses them. Where commits wait for the flush, the same gap holds only "
            "work in flight, which no client was promised: such arms stand at zero."
        ),
        panels=[_panel(group, exposed) for group, exposed in counted],
        keys=[Key(one.label, one.mark) for one in {one.label: one for one, _ in everything}.values()],
        columns=2,
        tables=[("Commits, bytes and age of what is not yet on disk", _table(groups))],
    )


def commits_at_risk(exposure: Exposure) -> float:
    """The 95th percentile of acknowledged commits that a crash would lose."""
    return exposure.commits.p95 if exposure.acknowledged and exposure.commits else 0.0


def _exposed(group: Group) -> Exposed:
    return [(one, one.arm.exposure) for one in group.placed if one.arm.exposure is not None]


def _panel(group: Group, exposed: Exposed) -> Panel:
    risks = [commits_at_risk(exposure) for _, exposure in exposed]
    floor = _floor(risks)
    fastest = max(one.arm.throughput_per_s.estimate for one, _ in exposed)
    return panel(
        group.name,
        "Throughput and acknowledged commits at risk. " + "; ".join(_spoken(*pair) for pair in exposed) + ".",
        HEIGHT_PX,
        [_point(one, exposure, floor) for one, exposure in exposed],
        x={"title": title("units of work per second"), "range": [0, fastest * 1.1], "nticks": 6, "tickformat": ",~r"},
        y=_risk_axis(floor, max(risks)),
    )


def _spoken(one: Placed, exposure: Exposure) -> str:
    risk = commits_at_risk(exposure)
    return f"{one.label}: {number(one.arm.throughput_per_s.estimate)} units per second, {number(risk)} commits"


def _floor(risks: list[float]) -> float:
    """Where zero stands on the logarithmic axis: a decade below the smallest risk that is not zero."""
    positive = [risk for risk in risks if risk > 0]
    return 10.0 ** (math.floor(math.log10(min(positive))) - 1) if positive else 0.1


def _risk_axis(floor: float, highest: float) -> Json:
    top = max(highest, floor * 10)
    decades = range(round(math.log10(floor)) + 1, math.floor(math.log10(top)) + 1)
    ticks = [10.0**decade for decade in decades]
    return {
        "type": "log",
        "range": [math.log10(floor) - 0.15, math.log10(top) + 0.25],
        "tickmode": "array",
        "tickvals": [floor, *ticks],
        "ticktext": ["none", *(f"{tick:,g}" for tick in ticks)],
    }


def _point(one: Placed, exposure: Exposure, floor: float) -> Json:
    # The symbols are open because arms without risk lie upon each other.
    throughput, risk = one.arm.throughput_per_s.estimate, commits_at_risk(exposure)
    at_most = f", at most {number(exposure.commits.max)}" if risk and exposure.commits else ""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": literal(one.label),
        "x": [throughput],
        "y": [risk or floor],
        "marker": {"color": one.mark.colour, "symbol": f"{one.mark.symbol}-open", "size": 12, "line": {"width": 3}},
        "text": [
            f"<b>{literal(one.arm.arm)}</b><br>{number(throughput)} units of work per second"
            f"<br>{number(risk)} acknowledged commits at risk (95th percentile){at_most}"
        ],
        "hovertemplate": "%{text}<extra></extra>",
        "cliponaxis": False,
    }


def _table(groups: list[tuple[Group, Exposed]]) -> Table:
    everything = [exposure for _, exposed in groups for _, exposure in exposed]
    size = byte_unit(exposure.bytes.max for exposure in everything)
    age = time_unit(exposure.age_ns.max for exposure in everything)
    columns = [
        Column("arm", figures=False),
        Column("commits in it are", figures=False),
        *(Column(f"commits {kind}") for kind in ("mean", "p95", "max")),
        *(Column(f"WAL {kind}", size.name) for kind in ("mean", "p95", "max")),
        *(Column(f"age {kind}", age.name) for kind in ("mean", "p95", "max")),
        Column("samples"),
    ]
    sections = [
        Section(group.name, [_table_row(one, exposure, size, age) for one, exposure in exposed])
        for group, exposed in groups
    ]
    return Table("exposure-figures", columns, sections)


def _table_row(one: Placed, exposure: Exposure, size: Unit, age: Unit) -> list[Cell]:
    return [
        Cell(one.label),
        Cell("acknowledged" if exposure.acknowledged else "in flight"),
        *_spread(exposure.commits, Unit("", 1)),
        *_spread(exposure.bytes, size),
        *_spread(exposure.age_ns, age),
        Cell(whole(exposure.samples)),
    ]


def _spread(spread: Spread | None, unit: Unit) -> list[Cell]:
    if spread is None:
        return [Cell("unknown")] * 3
    return [Cell(unit.text(value)) for value in (spread.mean, spread.p95, spread.max)]
