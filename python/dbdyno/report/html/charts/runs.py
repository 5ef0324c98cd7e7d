"""An arm's primary metric in each run, in the order in which the runs were started, with its interval."""

from __future__ import annotations

from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.runs_compared.findings import ArmHistory, RunsHistory, RunSummary
from dbdyno.report.html import palette
from dbdyno.report.html.chart import BAND, GREY, Chart, Json, Key, Panel, literal, panel
from dbdyno.report.html.palette import Fill, Mark
from dbdyno.report.html.scale import dated_axis
from dbdyno.report.numbers import percent
from dbdyno.report.runs_compared.figures import Figures, figures_of, moment

HEIGHT_PX = 190
COLOUR = palette.BETTER


def chart(history: RunsHistory) -> Chart:
    """A small panel for each arm; the runs stand in one order in all of them."""
    figures = figures_of(history.metric, [value for arm in history.arms for value in arm.values])
    return Chart(
        id="runs",
        short="Runs",
        heading=f"{figures.heading} of each arm, run after run",
        caption=(
            f"{figures.heading} in {figures.unit_name}, with 95 % intervals over the blocks of a run; the runs stand "
            "in the order in which they were started, one step apart whatever time lay between them."
        ),
        reading=(
            "A mark is the estimate of one run and the bar through it the 95 % interval of that run alone: it knows "
            "how trials within the run varied, and nothing of how days do. A mark outside of the grey band differs "
            "from the first run by more than the margin. The vertical scales do not begin at zero, so that small "
            "changes show. Arms that rise and fall together mean a machine that became faster or slower."
        ),
        panels=[_panel(arm, history, figures) for arm in history.arms],
        keys=[
            Key("estimate of a run, with its 95 % interval", Mark(COLOUR, "circle")),
            Key(f"within {percent(history.margin)} of the first run", Fill(palette.BAND_KEY)),
        ],
        columns=2,
    )


def _panel(arm: ArmHistory, history: RunsHistory, figures: Figures) -> Panel:
    shown = [
        (place, run, value)
        for place, (run, value) in enumerate(zip(history.runs, arm.values, strict=True))
        if value is not None
    ]
    spoken = "; ".join(f"run {run.label} {figures.named(value)}" for _, run, value in shown)
    return panel(
        arm.arm,
        f"{figures.heading} of {arm.arm}: {spoken}.",
        HEIGHT_PX,
        [_marks(arm, shown, figures)],
        x=dated_axis([run.label for run in history.runs], [run.started_at for run in history.runs]),
        y={"nticks": 5, "tickformat": ",~r", "range": _range(shown, history.margin, figures)},
        shapes=[_margin(shown[0][2], history.margin, figures)],
    )


def _marks(arm: ArmHistory, shown: list[tuple[int, RunSummary, Estimate]], figures: Figures) -> Json:
    values = [value for _, _, value in shown]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": literal(arm.arm),
        "x": [place for place, _, _ in shown],
        "y": [value.estimate / figures.unit.size for value in values],
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [_length(value.estimate, value.high, figures) for value in values],
            "arrayminus": [_length(value.low, value.estimate, figures) for value in values],
            "thickness": 2.5,
            "width": 0,
            "color": COLOUR,
        },
        "marker": {"color": COLOUR, "symbol": "circle", "size": 8},
        "line": {"color": GREY, "width": 1},
        "text": [_hover(run, value, figures) for _, run, value in shown],
        "hovertemplate": "%{text}<extra></extra>",
        "cliponaxis": False,
    }


def _length(low: float | None, high: float | None, figures: Figures) -> float:
    """Of one side of a bar; none where there are too few blocks for an interval."""
    return 0.0 if low is None or high is None else (high - low) / figures.unit.size


def _hover(run: RunSummary, value: Estimate, figures: Figures) -> str:
    server = " and ".join(run.server_versions)
    return (
        f"<b>run {literal(run.label)}</b>: {figures.named(value)} ({figures.ends(value)})<br>"
        f"{literal(run.run_id)}<br>{moment(run.started_at)}, PostgreSQL {literal(server)}"
    )


def _range(shown: list[tuple[int, RunSummary, Estimate]], margin: float, figures: Figures) -> list[float]:
    """All intervals and the whole band, with a little air."""
    ends = [end for _, _, value in shown for end in (value.estimate, value.low, value.high) if end is not None]
    first = shown[0][2].estimate
    low, high = min(*ends, first / (1 + margin)), max(*ends, first * (1 + margin))
    air = (high - low) * 0.06
    return [(low - air) / figures.unit.size, (high + air) / figures.unit.size]


def _margin(first: Estimate, margin: float, figures: Figures) -> Json:
    """What is within the margin of the first run that has the arm."""
    value = first.estimate / figures.unit.size
    return {
        "type": "rect", "x0": 0, "x1": 1, "xref": "paper", "y0": value / (1 + margin), "y1": value * (1 + margin),
        "fillcolor": BAND, "line": {"width": 0}, "layer": "below",
    }  # fmt: skip
