"""Puts the page of compared calibrations together: the answer, what differs, the charts, the figures, what next."""

from __future__ import annotations

from dbdyno.analysis.calibrations_compared.findings import FAMILIES, CalibrationsComparison, FigureCompared
from dbdyno.report import numbers
from dbdyno.report.calibrations_compared.names import figure_name, interval, ratio, value
from dbdyno.report.calibrations_compared.words import (
    answer,
    changes,
    difference_words,
    drift_words,
    evidence_words,
    next_steps,
    ratio_words,
    summaries,
)
from dbdyno.report.html.charts import calibrations as charts
from dbdyno.report.html.document import rendered
from dbdyno.report.html.table import Cell, Column, Section, Table

TEMPLATE = "calibrations.html.j2"


def page(found: CalibrationsComparison) -> str:
    """Two calibrations, or many along the time."""
    possible = (charts.along_the_time(found), charts.ratios(found))
    last = found.calibrations[-1]
    return rendered(
        TEMPLATE,
        [chart for chart in possible if chart is not None],
        kind="calibrations compared" if found.courses else "two calibrations compared",
        heading=last.directory or last.name,
        answer=answer(found),
        sentences=changes(found),
        summaries=summaries(found),
        warnings=found.warnings,
        differences=difference_words(found),
        drifts=drift_words(found),
        evidence=evidence_words(found),
        figures_table=_table(found),
        compared=ratio_words(found),
        steps=next_steps(found, page=""),
    )


def _table(found: CalibrationsComparison) -> Table:
    sections = [
        Section(family, [_row(one) for one in found.figures if one.family == family])
        for family in FAMILIES
        if any(one.family == family for one in found.figures)
    ]
    columns = [
        Column("figure", figures=False),
        Column(found.reference[0] if len(found.reference) == 1 else "mean before", figures=False),
        Column(found.later, figures=False),
        Column("ratio"),
        Column("p (Holm)"),
        Column("verdict", figures=False),
        Column("calibrations differ by"),
    ]
    return Table("compared", columns, sections)


def _row(one: FigureCompared) -> list[Cell]:
    return [
        Cell(figure_name(one.figure)),
        Cell(value(one.figure, one.first.estimate)),
        Cell(value(one.figure, one.second.estimate)),
        Cell(ratio(one.ratio.estimate), interval(one.ratio)),
        Cell(numbers.p_value(one.p_value_holm)),
        Cell("withheld" if one.limited_by else one.verdict),
        Cell("not known" if one.spread is None else numbers.percent(one.spread)),
    ]
