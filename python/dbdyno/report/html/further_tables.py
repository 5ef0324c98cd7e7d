"""Interactions and exploratory metrics as figures."""

from __future__ import annotations

from dbdyno.analysis.findings import Exploratory, Findings, Interaction
from dbdyno.report.html.names import metric_name
from dbdyno.report.html.quantity import ratio_ends
from dbdyno.report.html.table import Cell, Column, Section, Table
from dbdyno.report.numbers import p_value, ratio


def interactions_table(findings: Findings) -> Table | None:
    """None where arms differ in one factor alone."""
    if not findings.interactions:
        return None
    columns = [
        Column("effect", figures=False),
        Column("over the effect", figures=False),
        Column("ratio of effects", "95 % interval"),
        Column("p"),
        Column("p after Holm"),
        Column("", figures=False),
    ]
    rows = [_interaction_row(one) for one in findings.interactions]
    return Table("interactions", columns, [Section(metric_name(findings.metric), rows)])


def _interaction_row(one: Interaction) -> list[Cell]:
    return [
        Cell(f"{one.arm} / {one.baseline}"),
        Cell(f"{one.other_arm} / {one.other_baseline}"),
        Cell(ratio(one.ratio.estimate), ratio_ends(one.ratio)),
        Cell(p_value(one.p_value)),
        Cell(p_value(one.p_value_holm)),
        Cell("differs" if one.told else "not told"),
    ]


def exploratory_table(findings: Findings) -> Table | None:
    """None where no trial has another metric."""
    if not findings.exploratory:
        return None
    columns = [
        Column("arm", figures=False),
        Column("baseline", figures=False),
        Column("ratio", "95 % interval"),
        Column("p"),
        Column("p after Benjamini and Hochberg"),
        Column("", figures=False),
    ]
    metrics = dict.fromkeys(one.metric for one in findings.exploratory)
    sections = [
        Section(metric_name(metric), [_exploratory_row(one) for one in findings.exploratory if one.metric == metric])
        for metric in metrics
    ]
    return Table("exploratory", columns, sections)


def _exploratory_row(one: Exploratory) -> list[Cell]:
    return [
        Cell(one.arm),
        Cell(one.baseline),
        Cell(ratio(one.ratio.estimate), ratio_ends(one.ratio)),
        Cell(p_value(one.p_value)),
        Cell(p_value(one.p_value_bh)),
        Cell("differs" if one.told else "not told"),
    ]
