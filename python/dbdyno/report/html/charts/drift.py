"""Throughput, or the elapsed time of fixed work, trial after trial, so that a drift of the machine shows."""

from __future__ import annotations

from collections.abc import Sequence

from dbdyno.analysis.findings import ArmTrial, Findings
from dbdyno.report.html.arrangement import Arrangement, Placed
from dbdyno.report.html.chart import BAND, GREY, Chart, Json, Panel, literal, panel
from dbdyno.report.html.charts.trial_values import trial_words
from dbdyno.report.html.measure import Measure, measure_of

HEIGHT_PX = 132
MOST_STEPS = 20
MOST_TICKS = 8


def chart(findings: Findings, arrangement: Arrangement) -> Chart | None:
    """A small panel for each arm, all with the same time axis; None where no trial succeeded."""
    trials = [trial for arm in findings.arms for trial in arm.by_trial]
    if not trials:
        return None
    measure = measure_of(findings)
    course_words = "" if measure.of_elapsed else ", the thin line its course"
    return Chart(
        id="drift",
        short="Run order",
        heading=f"{measure.heading.capitalize()} over the run, trial after trial",
        caption=f"{_named(measure)} along the blocks: a mark is a trial{course_words}.",
        reading=(
            "Shaded and plain strips are blocks, and each mark stands where its trial stood in the run. "
            "The vertical scales do not begin at zero, so that small changes show. Marks on a level line mean a steady "
            "machine. Arms that rise and fall together mean drift of the machine, from which the random order and "
            "the comparison within blocks protect the verdict."
        ),
        panels=[_panel(one, trials, measure) for one in arrangement.placed() if one.arm.by_trial],
        columns=2,
    )


def _named(measure: Measure) -> str:
    return measure.unit.name[0].upper() + measure.unit.name[1:] if not measure.of_elapsed else "Elapsed time"


def course(trial: ArmTrial) -> tuple[list[float], list[float]]:
    """Places in the run and units per second; neighbouring steps are merged so that at most 20 remain."""
    merged = -(-len(trial.series_units) // MOST_STEPS)
    groups = [trial.series_units[at : at + merged] for at in range(0, len(trial.series_units), merged or 1)]
    starts = [at * merged / len(trial.series_units) for at in range(len(groups))]
    middles = [start + len(group) / len(trial.series_units) / 2 for start, group in zip(starts, groups, strict=True)]
    rates = [sum(group) / (len(group) * trial.step_ns) * 1e9 for group in groups]
    return [trial.order + middle for middle in middles], rates


def _panel(one: Placed, all_trials: Sequence[ArmTrial], measure: Measure) -> Panel:
    return panel(
        one.arm.arm,
        f"{measure.heading.capitalize()} of {len(one.arm.by_trial)} trials of {one.arm.arm} in run order.",
        HEIGHT_PX,
        [_marks(one, measure)] if measure.of_elapsed else [_course(one), _marks(one, measure)],
        x=_block_axis(all_trials),
        y={"nticks": 5, "tickformat": ",~r", "ticksuffix": measure.short_unit if measure.of_elapsed else ""},
        shapes=_block_strips(all_trials),
    )


def _course(one: Placed) -> Json:
    x: list[float | None] = []
    y: list[float | None] = []
    for trial in one.arm.by_trial:
        places, rates = course(trial)
        x += [*places, None]
        y += [*rates, None]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": literal(one.label),
        "x": x,
        "y": y,
        "line": {"color": one.mark.colour, "width": 1},
        "opacity": 0.55,
        "hoverinfo": "skip",
    }


def _marks(one: Placed, measure: Measure) -> Json:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": literal(one.label),
        "x": [trial.order + 0.5 for trial in one.arm.by_trial],
        "y": [measure.trial(trial) / measure.unit.size for trial in one.arm.by_trial],
        "marker": {"color": one.mark.colour, "symbol": one.mark.symbol, "size": 7},
        "line": {"color": GREY, "width": 1},
        "text": [trial_words(one, trial, measure) for trial in one.arm.by_trial],
        "hovertemplate": "%{text}<extra></extra>",
        "cliponaxis": False,
    }


def _spans(trials: Sequence[ArmTrial]) -> list[tuple[int, int, int]]:
    """(block, first place, place after the last) for each attempt at a block, in run order."""
    spans: dict[tuple[int, int], tuple[int, int]] = {}
    for trial in sorted(trials, key=lambda trial: trial.order):
        first, _ = spans.get((trial.attempt, trial.block), (trial.order, 0))
        spans[trial.attempt, trial.block] = (first, trial.order + 1)
    return [(block, first, end) for (_, block), (first, end) in spans.items()]


def _block_axis(trials: Sequence[ArmTrial]) -> Json:
    spans = _spans(trials)
    every = -(-len(spans) // MOST_TICKS)
    shown = spans[::every]
    return {
        "range": [spans[0][1], max(end for _, _, end in spans)],
        "showgrid": False,
        "tickmode": "array",
        "tickvals": [(first + end) / 2 for _, first, end in shown],
        "ticktext": [str(block + 1) for block, _, _ in shown],
    }


def _block_strips(trials: Sequence[ArmTrial]) -> list[Json]:
    return [
        {
            "type": "rect", "x0": first, "x1": end, "y0": 0, "y1": 1, "yref": "paper",
            "fillcolor": BAND, "line": {"width": 0}, "layer": "below", "opacity": 0.6,
        }
        for _, first, end in _spans(trials)[::2]
    ]  # fmt: skip
