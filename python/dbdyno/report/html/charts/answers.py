"""How far each answer was from the truth: a row for each arm that errs, a point for each trial; and what all cost."""

from __future__ import annotations

from dbdyno.analysis.findings import Answer, Estimate
from dbdyno.report.html import palette
from dbdyno.report.html.arrangement import Arrangement, Group, Placed
from dbdyno.report.html.chart import Chart, Json, Key, Panel, literal, panel, title
from dbdyno.report.html.palette import Mark
from dbdyno.report.html.quantity import Unit, byte_unit, middle_time_unit, number, whole
from dbdyno.report.html.rows import Row, lay_out
from dbdyno.report.html.table import Cell, Column, Section, Table

BAND_PX = 16
AXIS_PX = 60
POINT = Mark(palette.BETTER, "circle")
PER_CENT = Unit("%", 0.01)

Erring = list[tuple[Placed, Answer]]


def chart(arrangement: Arrangement) -> Chart | None:
    """A panel for each group and question in which an arm errs; None where no arm does or no truth is known."""
    panels = [
        _panel(group, question, erring)
        for group in arrangement.groups
        for question in _questions(group.placed)
        if (erring := _erring(group, question))
    ]
    if not panels:
        return None
    return Chart(
        id="answers",
        short="Answers",
        heading="How far the answers are from the truth, and what they cost",
        caption=(
            "Relative error of each trial; arms that were right in every trial are in the table only. "
            "Each panel has its own scale."
        ),
        reading=(
            "Left of the line an answer is too small, right of it too great. Each trial of an arm that takes a seed "
            "has another one, so that its points are what the next count may come to; an arm without a seed says the "
            "same each time, and its one point may lie near the line by luck. "
            "Memory is the most that the processes doing the work held for themselves at once, shared buffers not in "
            "it; CPU is that of all of them; temporary files are what did not fit."
        ),
        panels=panels,
        keys=[Key("one trial", POINT)],
        columns=2,
        tables=[("Errors and costs as figures", _table(arrangement))],
    )


def _questions(placed: list[Placed]) -> list[str]:
    return list(dict.fromkeys(answer.question for one in placed for answer in one.arm.answers))


def _erring(group: Group, question: str) -> Erring:
    return [
        (one, answer)
        for one in group.placed
        for answer in one.arm.answers
        if answer.question == question and answer.worst > 0
    ]


def _panel(group: Group, question: str, erring: Erring) -> Panel:
    labels = [(one.label, f"{PER_CENT.named(answer.error_rms)} rms") for one, answer in erring]
    rows = lay_out(labels, BAND_PX)
    name = question if group.name in (None, question) else f"{group.name}: {question}"
    return panel(
        name,
        f"Relative errors of {question}: " + "; ".join(f"{label} {error}" for label, error in labels) + ".",
        rows.height_px + AXIS_PX,
        [_points(one, answer, row) for (one, answer), row in zip(erring, rows.rows, strict=True)],
        x={"title": title("error, %"), "ticksuffix": " %", "nticks": 6, **_range(erring)},
        y=rows.axis(),
        annotations=rows.notes,
        shapes=[_truth()],
    )


def _range(erring: Erring) -> Json:
    """The truth in the middle."""
    farthest = max(answer.worst for _, answer in erring) * 110
    return {"range": [-farthest, farthest]}


def _points(one: Placed, answer: Answer, row: Row) -> Json:
    errors = [(given - answer.truth) / answer.truth if answer.truth else float(given != 0) for given in answer.answers]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": literal(one.label),
        "x": [100 * error for error in errors],
        "y": [row.middle_px] * len(errors),
        "marker": {"color": POINT.colour, "symbol": POINT.symbol, "size": 8, "opacity": 0.55},
        "text": [f"{literal(one.label)}: {given:,.1f} instead of {answer.truth:,.10g}" for given in answer.answers],
        "hovertemplate": "%{text}<extra></extra>",
        "cliponaxis": False,
    }


def _truth() -> Json:
    return {
        "type": "line", "x0": 0, "x1": 0, "y0": 0, "y1": 1, "yref": "paper",
        "line": {"color": palette.NEUTRAL, "width": 1}, "layer": "below",
    }  # fmt: skip


def _table(arrangement: Arrangement) -> Table:
    """One row for each arm and question; what an arm costs stands in the row of its first."""
    costs = [one.arm.cost for one in arrangement.placed() if one.arm.cost]
    memory = byte_unit([cost.memory_bytes.estimate for cost in costs if cost.memory_bytes])
    temp = byte_unit([cost.temp_bytes for cost in costs if cost.temp_bytes])
    time = middle_time_unit([one.arm.profile_total_ns for one in arrangement.placed()])
    columns = [
        Column("arm", figures=False), Column("question", figures=False), Column("different answers"),
        Column("error rms", "%"), Column("error mean", "%"), Column("elapsed", time.name),
        Column("CPU of all", time.name), Column("memory", memory.name), Column("temporary files", temp.name),
    ]  # fmt: skip
    sections = [
        Section(group.name, [row for one in group.placed for row in _rows(one, time, memory, temp)])
        for group in arrangement.groups
    ]
    return Table("answers", columns, sections)


def _rows(one: Placed, time: Unit, memory: Unit, temp: Unit) -> list[list[Cell]]:
    cost = one.arm.cost
    costs = [
        _estimate(one.arm.elapsed_ns, time),
        _estimate(cost.cpu_ns if cost else None, time),
        _estimate(cost.memory_bytes if cost else None, memory),
        Cell(temp.text(cost.temp_bytes) if cost and cost.temp_bytes is not None else ""),
    ]
    if not one.arm.answers:
        return [[Cell(one.label), Cell("none"), Cell(""), Cell(""), Cell(""), *costs]]
    return [
        [
            Cell(one.label if first else ""),
            Cell(answer.question),
            Cell(whole(len(set(answer.answers))), f"of {len(answer.answers)}"),
            Cell(number(100 * answer.error_rms), f"worst {PER_CENT.text(answer.worst)}" if answer.worst else ""),
            Cell(number(100 * answer.error_mean)),
            *(costs if first else [Cell("")] * len(costs)),
        ]
        for first, answer in ((answer is one.arm.answers[0], answer) for answer in one.arm.answers)
    ]


def _estimate(value: Estimate | None, unit: Unit) -> Cell:
    if value is None:
        return Cell("")
    if value.low is None or value.high is None:
        return Cell(unit.text(value.estimate))
    return Cell(unit.text(value.estimate), f"{unit.text(value.low)} to {unit.text(value.high)}")
