"""Puts the page of compared runs together: the answer, one chart, the figures, what differs, what to run next."""

from __future__ import annotations

from collections.abc import Sequence

from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.runs_compared.findings import (
    ArmCompared,
    Change,
    EffectCompared,
    RunsComparison,
    RunsHistory,
)
from dbdyno.report.html.charts import runs as chart
from dbdyno.report.html.document import rendered
from dbdyno.report.html.table import Cell, Column, Section, Table
from dbdyno.report.naming import ArmNames
from dbdyno.report.numbers import NOTHING, p_value, ratio
from dbdyno.report.runs_compared.figures import figures_of, moment
from dbdyno.report.runs_compared.history import answer
from dbdyno.report.runs_compared.sentences import run_sentences
from dbdyno.report.runs_compared.terminal import Places
from dbdyno.report.runs_compared.words import ALWAYS, WITHIN, conclusion, grouped, settling_steps
from dbdyno.report.sentences import Sentence, Span

TEMPLATE = "runs.html.j2"
Grouped = Sequence[tuple[str, str]]


def comparison_page(found: RunsComparison, history: RunsHistory, places: Places) -> str:
    """Two runs; `history` is of the same two, for the chart."""
    labels = (found.first.label, found.second.label)
    steps = settling_steps(
        found, dict(zip(labels, places.paths, strict=True)), dict(zip(labels, places.archived, strict=True))
    )
    return _page(
        history,
        kind="two runs compared",
        sentences=[sentence for _, sentence in run_sentences(found)],
        summary=conclusion(found),
        warnings=found.warnings,
        compared=_compared("compared", found.arms, ArmNames(found)),
        effects=_compared("effects", found.effects, ArmNames(found)) if found.effects else None,
        differences=[("What differs between A and B", grouped(found.differences))],
        left_out=found.left_out,
        steps=steps.groups,
    )


def history_page(history: RunsHistory) -> str:
    """Runs along the time."""
    said: Sentence = [Span(answer(history))]
    return _page(
        history,
        kind="runs along the time",
        sentences=[said],
        summary=f"Intervals are 95 % intervals; less than {history.margin * 100:g} % does not matter.",
        warnings=history.warnings,
        compared=None,
        effects=None,
        differences=[(f"From {change.before} to {change.after}", _told(change)) for change in history.changes],
        left_out=history.left_out,
        steps=[],
    )


def _page(history: RunsHistory, **content: object) -> str:
    charts = [chart.chart(history)]
    return rendered(
        TEMPLATE,
        charts,
        history=history,
        within=WITHIN,
        runs=_runs(history),
        figures_table=_figures(history),
        **content,
    )


def _told(change: Change) -> Grouped:
    return grouped(each for each in change.differences if each.what not in ALWAYS)


def _runs(history: RunsHistory) -> Table:
    """Which run is which."""
    rows = [
        [
            Cell(run.label),
            Cell(run.run_id),
            Cell(moment(run.started_at)),
            Cell(" and ".join(run.server_versions)),
            Cell(str(run.blocks_complete)),
            Cell(str(run.seed)),
        ]
        for run in history.runs
    ]
    columns = [
        Column("run", figures=False),
        Column("name", figures=False),
        Column("started", figures=False),
        Column("PostgreSQL", figures=False),
        Column("blocks"),
        Column("seed"),
    ]
    return Table("runs", columns, [Section(None, rows)])


def _figures(history: RunsHistory) -> Table:
    """The chart as figures: a row for each arm, a column for each run."""
    figures = figures_of(history.metric, [value for arm in history.arms for value in arm.values])
    rows = [
        [
            Cell(arm.arm),
            *(Cell(figures.text(value), "" if value is None else figures.ends(value)) for value in arm.values),
        ]
        for arm in history.arms
    ]
    columns = [Column("arm", figures=False), *(Column(run.label, figures.unit_name) for run in history.runs)]
    return Table("figures", columns, [Section(None, rows)])


def _compared(name: str, compared: Sequence[ArmCompared | EffectCompared], names: ArmNames) -> Table:
    """Each ratio with its interval and verdict; the ratios of A and B themselves where these are effects."""
    of_effects = name == "effects"
    sections: dict[str | None, list[list[Cell]]] = {}
    for one in compared:
        sides = [_ratio(one.first), _ratio(one.second)] if of_effects else []
        word = "withheld" if one.withheld else one.verdict
        cells = [Cell(names.short(one.arm)), *sides, _ratio(one.ratio), Cell(p_value(one.p_value_holm)), Cell(word)]
        sections.setdefault(names.group(one.arm), []).append(cells)
    sides_of = [Column("effect in A"), Column("effect in B")] if of_effects else []
    columns = [
        Column("arm", figures=False),
        *sides_of,
        Column("B / A"),
        Column("p (Holm)"),
        Column("verdict", figures=False),
    ]
    return Table(name, columns, [Section(group, rows) for group, rows in sections.items()])


def _ratio(estimate: Estimate) -> Cell:
    if estimate.low is None or estimate.high is None:
        return Cell(ratio(estimate.estimate), NOTHING)
    return Cell(ratio(estimate.estimate), f"{ratio(estimate.low)} to {ratio(estimate.high)}")
