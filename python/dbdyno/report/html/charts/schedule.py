"""The schedule as it was run: a column for each block, a cell for each trial in its place."""

from __future__ import annotations

from collections.abc import Sequence

from dbdyno.analysis.findings import Findings, Scheduled
from dbdyno.report.html.arrangement import Arrangement, Placed
from dbdyno.report.html.chart import Chart, Json, Key, Panel, literal, panel
from dbdyno.report.html.palette import HATCHES, Fill, Mark

CELL_PX = 24
AXIS_PX = 58
MOST_TICKS = 12
# White over a dark rim: seen on every cell colour and on both pages.
FAILED = Mark("#FFFFFF", "x")


def chart(findings: Findings, arrangement: Arrangement) -> Chart | None:
    """The grid; None where the findings hold no schedule."""
    if not findings.schedule:
        return None
    fills = {
        one.arm.arm: Fill(one.mark.colour, HATCHES[place % len(HATCHES)])
        for place, group in enumerate(arrangement.groups)
        for one in group.placed
    }
    failed = [cell for cell in findings.schedule if cell.status == "failed"]
    return Chart(
        id="schedule",
        short="Schedule",
        heading="The order in which the trials were run",
        caption=f"Each column is a block, from its first trial at the top to its last; the order was drawn with seed {findings.seed}.",
        reading=(
            "Every arm stands once in each column, in an order drawn by lot, so that no arm always comes first or "
            "follows the same neighbour. A cross marks a trial that failed; its whole block was run again at the end. "
            "An empty cell is a trial that was not run."
        ),
        panels=[_panel(findings, arrangement, fills, failed)],
        keys=[
            *(Key(one.arm.arm, fills[one.arm.arm]) for one in arrangement.placed()),
            *([Key("failed", Mark("#D55E00", "x"))] if failed else []),
        ],
    )


def _panel(findings: Findings, arrangement: Arrangement, fills: dict[str, Fill], failed: Sequence[Scheduled]) -> Panel:
    blocks = max(cell.block for cell in findings.schedule) + 1
    positions = max(cell.position for cell in findings.schedule) + 1
    return panel(
        None,
        f"Schedule of {blocks} blocks with {positions} places each; {len(failed)} trials failed.",
        positions * CELL_PX + AXIS_PX,
        [
            *(_cells(one, fills[one.arm.arm], findings.schedule) for one in arrangement.placed()),
            *([_crosses(failed)] if failed else []),
        ],
        x={
            "title": {"text": "block", "standoff": 6}, "range": [0.5, blocks + 0.5], "showgrid": False,
            "tick0": 1, "dtick": -(-blocks // MOST_TICKS), "tickformat": "d",
        },
        y={"range": [positions + 0.5, 0.5], "showgrid": False, "tick0": 1, "dtick": 1, "tickformat": "d"},
        barmode="overlay",
    )  # fmt: skip


def _cells(one: Placed, fill: Fill, schedule: Sequence[Scheduled]) -> Json:
    own = [cell for cell in schedule if cell.arm == one.arm.arm and cell.status != "pending"]
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


def _crosses(failed: Sequence[Scheduled]) -> Json:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "failed",
        "x": [cell.block + 1 for cell in failed],
        "y": [cell.position + 1 for cell in failed],
        "marker": {
            "symbol": FAILED.symbol,
            "size": 11,
            "color": FAILED.colour,
            "line": {"width": 1.5, "color": "#000000"},
        },
        "text": [_words(cell) for cell in failed],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _words(cell: Scheduled) -> str:
    return f"<b>{literal(cell.arm)}</b><br>block {cell.block + 1}, place {cell.position + 1}: {literal(cell.status)}"
