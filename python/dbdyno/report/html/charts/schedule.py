"""The schedule as it was run: a column for each block, a cell for each trial in its place."""

from __future__ import annotations

from collections.abc import Sequence

from dbdyno.analysis.findings import Findings, Scheduled
from dbdyno.report.html import palette
from dbdyno.report.html.arrangement import Arrangement, Placed
from dbdyno.report.html.chart import Chart, Json, Key, Panel, literal, panel, title
from dbdyno.report.html.palette import HATCHES, Fill, Mark

CELL_PX = 24
AXIS_PX = 58
MOST_TICKS = 12
# White within a dark rim: seen on every cell's colour, on the light page and on the dark one.
INSIDE, RIM = "#FFFFFF", "#000000"
SYMBOLS = {"failed": "x", "repeated": "circle"}


def chart(findings: Findings, arrangement: Arrangement) -> Chart | None:
    """The grid; None where the findings hold no schedule."""
    if not findings.schedule:
        return None
    fills = {
        one.arm.arm: Fill(one.mark.colour, HATCHES[place % len(HATCHES)])
        for place, group in enumerate(arrangement.groups)
        for one in group.placed
    }
    marked = [cell for cell in findings.schedule if cell.status in SYMBOLS]
    return Chart(
        id="schedule",
        short="Schedule",
        heading="The order in which the trials were run",
        caption=f"Each column is a block, its first trial at the top; the order was drawn with seed {findings.seed}.",
        reading=(
            "Every arm stands once in each column, in an order drawn by lot, so that no arm always comes first or "
            "follows the same neighbour. A cross marks a trial that failed and was not made up for; circles mark a "
            "block in which a trial failed and which was run again, whole, at the end, so that this first attempt "
            "does not count. An empty cell is a trial that was not run."
        ),
        panels=[_panel(findings, arrangement, fills, marked)],
        keys=[
            *(Key(one.arm.arm, fills[one.arm.arm]) for one in arrangement.placed()),
            *(Key(status, Mark(palette.NEUTRAL, symbol)) for status, symbol in _symbols_used(marked).items()),
        ],
    )


def _panel(findings: Findings, arrangement: Arrangement, fills: dict[str, Fill], marked: Sequence[Scheduled]) -> Panel:
    blocks = max(cell.block for cell in findings.schedule) + 1
    positions = max(cell.position for cell in findings.schedule) + 1
    return panel(
        None,
        f"Schedule of {blocks} blocks with {positions} places each; {len(marked)} trials failed or were repeated.",
        positions * CELL_PX + AXIS_PX,
        [
            *(_cells(one, fills[one.arm.arm], findings.schedule) for one in arrangement.placed()),
            *([_marks(marked)] if marked else []),
        ],
        x={
            "title": title("block"), "range": [0.5, blocks + 0.5], "showgrid": False,
            "tick0": 1, "dtick": -(-blocks // MOST_TICKS), "tickformat": "d",
        },
        y={"range": [positions + 0.5, 0.5], "showgrid": False, "tick0": 1, "dtick": 1, "tickformat": "d"},
        barmode="overlay",
    )  # fmt: skip


def _cells(one: Placed, fill: Fill, schedule: Sequence[Scheduled]) -> Json:
    own = [cell for cell in schedule if cell.arm == one.arm.arm and cell.status != "not_run"]
    return {
        "type": "bar",
        "name": literal(one.arm.arm),
        "x": [cell.block + 1 for cell in own],
        "base": [cell.position + 0.54 for cell in own],
        "y": [0.92 for _ in own],
        "width": 0.9,
        "marker": {
            "color": fill.colour,
            "line": {"width": 0},
            "pattern": {"shape": fill.hatch, "size": 5, "solidity": 0.5},
        },
        "text": [_words(cell) for cell in own],
        "textposition": "none",
        "hovertemplate": "%{text}<extra></extra>",
    }


def _marks(cells: Sequence[Scheduled]) -> Json:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "failed or repeated",
        "x": [cell.block + 1 for cell in cells],
        "y": [cell.position + 1 for cell in cells],
        "marker": {
            "symbol": [SYMBOLS[cell.status] for cell in cells],
            "size": 9,
            "color": INSIDE,
            "line": {"width": 1.2, "color": RIM},
        },
        "text": [_words(cell) for cell in cells],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _words(cell: Scheduled) -> str:
    return f"<b>{literal(cell.arm)}</b><br>block {cell.block + 1}, place {cell.position + 1}: {literal(cell.status)}"


def _symbols_used(cells: Sequence[Scheduled]) -> dict[str, str]:
    return {status: symbol for status, symbol in SYMBOLS.items() if any(cell.status == status for cell in cells)}
