"""The comparisons as figures: every ratio with its test, and what changed in the time profile."""

from __future__ import annotations

from dbdyno.analysis.findings import Comparison, Findings, Reason
from dbdyno.report.html.names import metric_name
from dbdyno.report.html.quantity import Unit, ratio_ends, time_unit
from dbdyno.report.html.table import Cell, Column, Section, Table
from dbdyno.report.naming import part_name
from dbdyno.report.numbers import p_value, percent, ratio
from dbdyno.report.sentences import verdict_word

# A part that moved by less than this share of the baseline's response time explains nothing.
LEAST_CHANGE = 0.005


def comparisons_table(findings: Findings) -> Table:
    """Every comparison, the primary metric's first."""
    columns = [
        Column("arm", figures=False),
        Column("baseline", figures=False),
        Column("ratio", "95 % interval"),
        Column("p"),
        Column("p after Holm"),
        Column("verdict", figures=False),
        Column("blocks that would decide"),
        Column("limited by", figures=False),
    ]
    metrics = dict.fromkeys([findings.metric, *(one.metric for one in findings.comparisons)])
    sections = [
        Section(metric_name(metric), [_comparison_row(one) for one in findings.comparisons if one.metric == metric])
        for metric in metrics
    ]
    return Table("comparisons", columns, sections)


def reasons_table(findings: Findings) -> Table | None:
    """Part by part, the greatest change first; None where no part of any arm changed."""
    compared = [one for one in findings.comparisons if one.metric == findings.metric and _changes(one)]
    if not compared:
        return None
    unit = time_unit(max(abs(reason.baseline_ns), abs(reason.arm_ns)) for one in compared for reason in _changes(one))
    columns = [
        Column("part", figures=False),
        Column("change", unit.name),
        Column("baseline", unit.name),
        Column("arm", unit.name),
        Column("share of the baseline"),
    ]
    sections = [
        Section(f"{one.arm} against {one.baseline}", [_reason_row(reason, unit) for reason in _changes(one)])
        for one in compared
    ]
    return Table("reasons", columns, sections)


def _changes(one: Comparison) -> list[Reason]:
    """The parts that moved enough to matter."""
    least = LEAST_CHANGE * sum(reason.baseline_ns for reason in one.why)
    return [reason for reason in one.why if abs(reason.difference_ns) >= least]


def _comparison_row(one: Comparison) -> list[Cell]:
    return [
        Cell(one.arm),
        Cell(one.baseline),
        Cell(ratio(one.ratio.estimate), ratio_ends(one.ratio)),
        Cell(p_value(one.p_value)),
        Cell(p_value(one.p_value_holm)),
        Cell(verdict_word(one)),
        Cell("" if one.blocks_needed is None else str(one.blocks_needed)),
        Cell(", ".join(one.limited_by)),
    ]


def _reason_row(reason: Reason, unit: Unit) -> list[Cell]:
    return [
        Cell(part_name(reason.part)),
        *(Cell(unit.text(ns)) for ns in (reason.difference_ns, reason.baseline_ns, reason.arm_ns)),
        Cell(percent(reason.baseline_share)),
    ]
