"""Risk beside speed: what a crash of the server's machine would have lost, against throughput."""

from __future__ import annotations

from dbdyno.analysis.findings import Exposure
from dbdyno.report.html.arrangement import Arrangement, Group, Placed
from dbdyno.report.html.chart import Chart, Json, Key, Panel, literal, panel
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
    return Chart(
        id="exposure",
        short="Risk and speed",
        heading="What a crash would lose, beside the speed it buys",
        caption=(
            "Commits whose WAL was not yet on disk, 95th percentile over the window, against throughput; "
            "right is faster, up is riskier."
        ),
        reading=(
            "Exposure is the WAL that was inserted but not yet flushed, sampled during the window. "
            "With synchronous_commit on, a commit in this gap has not been acknowledged yet: its client still waits "
            "and loses nothing it was promised. With synchronous_commit off, such commits were acknowledged, "
            "and a power failure or a crash of the operating system at that moment loses them."
        ),
        panels=[_panel(group, exposed) for group, exposed in groups],
        keys=[Key(one.label, one.mark) for one in {one.label: one for one, _ in everything}.values()],
        columns=2,
        table=_table(groups),
        table_title="Commits, bytes and age at risk",
    )


def _exposed(group: Group) -> Exposed:
    return [(one, one.arm.exposure) for one in group.placed if one.arm.exposure is not None]


def _panel(group: Group, exposed: Exposed) -> Panel:
    spoken = "; ".join(
        f"{one.label}: {number(one.arm.throughput_per_s.estimate)} units per second, "
        f"{number(exposure.commits.p95)} commits at risk"
        for one, exposure in exposed
    )
    highest = max(exposure.commits.p95 for _, exposure in exposed)
    fastest = max(one.arm.throughput_per_s.estimate for one, _ in exposed)
    return panel(
        group.name,
        f"Throughput and commits at risk. {spoken}.",
        HEIGHT_PX,
        [_point(one, exposure) for one, exposure in exposed],
        x={"title": {"text": "units of work per second", "standoff": 6}, "range": [0, fastest * 1.1], "nticks": 6},
        y={"range": [-0.04 * (highest or 1), (highest or 1) * 1.12], "nticks": 5, "tickformat": ",~g"},
    )


def _point(one: Placed, exposure: Exposure) -> Json:
    throughput = one.arm.throughput_per_s
    trace: Json = {
        "type": "scatter",
        "mode": "markers",
        "name": literal(one.label),
        "x": [throughput.estimate],
        "y": [exposure.commits.p95],
        "marker": {"color": one.mark.colour, "symbol": one.mark.symbol, "size": 12},
        "text": [
            f"<b>{literal(one.arm.arm)}</b><br>{number(throughput.estimate)} units of work per second"
            f"<br>{number(exposure.commits.p95)} commits at risk (95th percentile), at most {number(exposure.commits.max)}"
        ],
        "hovertemplate": "%{text}<extra></extra>",
        "cliponaxis": False,
    }
    return trace


def _table(groups: list[tuple[Group, Exposed]]) -> Table:
    everything = [exposure for _, exposed in groups for _, exposure in exposed]
    size = byte_unit(exposure.bytes.max for exposure in everything)
    age = time_unit(exposure.age_ns.max for exposure in everything)
    columns = [
        Column("arm", figures=False),
        *(Column(f"commits, {kind}") for kind in ("mean", "p95", "max")),
        *(Column(f"WAL, {kind}", size.name) for kind in ("mean", "p95", "max")),
        *(Column(f"age, {kind}", age.name) for kind in ("mean", "p95", "max")),
        Column("samples"),
    ]
    sections = [
        Section(group.name, [_table_row(one, exposure, size, age) for one, exposure in exposed])
        for group, exposed in groups
    ]
    return Table("exposure-figures", columns, sections)


def _table_row(one: Placed, exposure: Exposure, size: Unit, age: Unit) -> list[Cell]:
    commits = exposure.commits
    return [
        Cell(one.label),
        *(Cell(number(value)) for value in (commits.mean, commits.p95, commits.max)),
        *(Cell(size.text(value)) for value in (exposure.bytes.mean, exposure.bytes.p95, exposure.bytes.max)),
        *(Cell(age.text(value)) for value in (exposure.age_ns.mean, exposure.age_ns.p95, exposure.age_ns.max)),
        Cell(whole(exposure.samples)),
    ]
