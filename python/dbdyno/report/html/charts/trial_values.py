"""What each trial measured: every value as a point, and the density of the points above them."""

from __future__ import annotations

from dbdyno.analysis.findings import ArmTrial, Findings
from dbdyno.report.html.arrangement import Arrangement, Group, Placed
from dbdyno.report.html.chart import Chart, Json, Panel, literal, panel, title
from dbdyno.report.html.measure import Measure, measure_of
from dbdyno.report.html.palette import translucent
from dbdyno.report.html.quantity import whole
from dbdyno.report.html.rows import Row, lay_out

DENSITY_PX = 36
POINTS_PX = 22
AXIS_PX = 42


def chart(findings: Findings, arrangement: Arrangement) -> Chart | None:
    """A row for each arm; None where no trial succeeded."""
    if not any(arm.by_trial for arm in findings.arms):
        return None
    measure = measure_of(findings)
    return Chart(
        id="trial-values",
        short="Trial values",
        heading="What every trial measured",
        caption=(
            f"{measure.heading.capitalize()} of each trial against its arm's estimate, and the density of the points; "
            "none is left out."
        ),
        reading=(
            "Points close together mean that the machine repeated itself. A point far from its fellows is a trial that "
            "something disturbed: it is kept, and comparing within blocks allows for it. "
            "Two heaps mean that the machine was in two moods; the run order below shows when. "
            "The density is a smoothed count (a kernel estimate) and only guides the eye."
        ),
        panels=[_panel(group, measure) for group in arrangement.groups],
        columns=2,
    )


def _panel(group: Group, measure: Measure) -> Panel:
    labels = [(one.label, measure.label(one.arm)) for one in group.placed]
    rows = lay_out(labels, DENSITY_PX + POINTS_PX)
    pairs = [(one, row) for one, row in zip(group.placed, rows.rows, strict=True) if one.arm.by_trial]
    spoken = "; ".join(f"{one.label}: {len(one.arm.by_trial)} trials" for one in group.placed)
    return panel(
        group.name,
        f"{measure.heading.capitalize()} of every trial, by arm. {spoken}.",
        rows.height_px + AXIS_PX,
        [trace for one, row in pairs for trace in (_density(one, row, measure), _points(one, row, measure))],
        x={
            "title": title("deviation from the arm's own estimate"),
            "tickformat": "+~g",
            "ticksuffix": " %",
            "nticks": 6,
        },
        y=rows.axis(),
        annotations=rows.notes,
        violingap=0,
    )


def _relative(one: Placed, measure: Measure) -> list[float]:
    """Per cent of its own arm's estimate: where arms differ by a factor, a spread of 3 % would have no width."""
    return [100 * (measure.trial(trial) / measure.arm(one.arm) - 1) for trial in one.arm.by_trial]


def _density(one: Placed, row: Row, measure: Measure) -> Json:
    """Half a violin: on an axis that runs downwards, its negative side points up."""
    return {
        "type": "violin",
        "orientation": "h",
        "x": _relative(one, measure),
        "y": [row.band_top_px + DENSITY_PX] * len(one.arm.by_trial),
        "width": 2 * DENSITY_PX,
        "side": "negative",
        "points": False,
        "hoverinfo": "skip",
        "line": {"color": one.mark.colour, "width": 1},
        "fillcolor": translucent(one.mark.colour),
        "scalemode": "width",
        "spanmode": "hard",
    }


def _points(one: Placed, row: Row, measure: Measure) -> Json:
    trials = one.arm.by_trial
    middle = row.band_bottom_px - POINTS_PX / 2
    # A fixed weave of three lines keeps near-equal points apart without chance.
    return {
        "type": "scatter",
        "mode": "markers",
        "name": literal(one.label),
        "x": _relative(one, measure),
        "y": [middle + 5 * (place % 3 - 1) for place in range(len(trials))],
        "marker": {"color": one.mark.colour, "symbol": one.mark.symbol, "size": 6.5, "opacity": 0.8},
        "text": [trial_words(one, trial, measure) for trial in trials],
        "hovertemplate": "%{text}<extra></extra>",
        "cliponaxis": False,
    }


def trial_words(one: Placed, trial: ArmTrial, measure: Measure) -> str:
    """What a trial says of itself when pointed at."""
    lines = [
        f"<b>{literal(one.arm.arm)}</b>",
        f"block {trial.block + 1}, place {whole(trial.order + 1)} in the run"
        + (f", attempt {trial.attempt + 1}" if trial.attempt else ""),
        measure.unit.named(measure.trial(trial)),
        *(literal(warning) for warning in trial.warnings),
    ]
    return "<br>".join(lines)
