"""Interactions and exploratory metrics as figures."""

from __future__ import annotations

from dbdyno.analysis.findings import Estimate, Exploratory, Findings, Interaction
from dbdyno.report.html.names import metric_name
from dbdyno.report.html.quantity import ratio_ends
from dbdyno.report.html.table import Cell, Column, Section, Table
from dbdyno.report.numbers import p_value, ratio


def interactions_table(findings: Findings) -> Table | None:
    """None where arms differ in one factor alone."""
    if not findings.interactions:
        return None
    names = ("effect", "over the effect", "ratio of effects")
    rows = [_interaction_row(one) for one in findings.interactions]
    sections = [Section(metric_name(findings.metric), rows)]
    return Table("interactions", _columns(*names, "p after Holm"), sections)


def _interaction_row(one: Interaction) -> list[Cell]:
    effect, over = f"{one.arm} / {one.baseline}", f"{one.other_arm} / {one.other_baseline}"
    return [Cell(effect), Cell(over), *_tested(one.ratio, one.p_value, one.p_value_holm, told=one.told)]


def exploratory_table(findings: Findings) -> Table | None:
    """None where no trial has another metric."""
    if not findings.exploratory:
        return None
    metrics = dict.fromkeys(one.metric for one in findings.exploratory)
    sections = [
        Section(metric_name(metric), [_exploratory_row(one) for one in findings.exploratory if one.metric == metric])
        for metric in metrics
    ]
    return Table("exploratory", _columns("arm", "baseline", "ratio", "p after Benjamini and Hochberg"), sections)


def _exploratory_row(one: Exploratory) -> list[Cell]:
    return [
        Cell(one.arm),
        Cell(one.baseline),
        *_tested(one.ratio, one.p_value, one.p_value_bh, told=one.told),
    ]


def _columns(what: str, against: str, ratio_name: str, corrected: str) -> list[Column]:
    return [
        Column(what, figures=False),
        Column(against, figures=False),
        Column(ratio_name, "95 % interval"),
        Column("p"),
        Column(corrected),
        Column("", figures=False),
    ]


def _tested(tested: Estimate, p: float | None, corrected: float | None, *, told: bool) -> list[Cell]:
    """A ratio with its test."""
    return [
        Cell(ratio(tested.estimate), ratio_ends(tested)),
        Cell(p_value(p)),
        Cell(p_value(corrected)),
        Cell("differs" if told else "not told"),
    ]
