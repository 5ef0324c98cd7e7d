"""Indexes as figures: what each costs, which transactions need it, and the DDL."""

from __future__ import annotations

from dbdyno.analysis.findings import Findings, IndexBenefit, IndexCost, IndexVerdict
from dbdyno.report import numbers
from dbdyno.report.html.quantity import byte_unit, number, ratio_ends
from dbdyno.report.html.table import Cell, Column, Section, Table
from dbdyno.report.index_words import FIGURE_NAMES
from dbdyno.report.naming import script_name


def verdicts_table(findings: Findings) -> Table:
    """One row an index: the verdict and how to act on it."""
    sizes = byte_unit(verdict.bytes for verdict in findings.indexes)
    columns = [
        Column("index", figures=False),
        Column("verdict", figures=False),
        Column("size", sizes.name),
        Column("scans", "per unit"),
        Column("blocks that would decide"),
        Column("to drop it", figures=False),
        Column("to have it back", figures=False),
    ]
    rows = [
        [
            Cell(verdict.index),
            Cell(verdict.verdict),
            Cell(sizes.text(verdict.bytes)),
            Cell("" if verdict.scans_per_unit is None else number(verdict.scans_per_unit)),
            Cell("" if verdict.blocks_needed is None else str(verdict.blocks_needed)),
            Cell(verdict.sql),
            Cell(verdict.undo),
        ]
        for verdict in findings.indexes
    ]
    return Table("indexes", columns, [Section(None, rows)])


def costs_table(findings: Findings) -> Table:
    """Every figure with and without each index."""
    columns = [
        Column("figure", figures=False),
        Column("with it"),
        Column("without it"),
        Column("change", "95 % interval"),
        Column("p after Holm"),
        Column("saved", figures=False),
    ]
    sections = [Section(_heading(verdict), [_cost_row(cost) for cost in verdict.costs]) for verdict in findings.indexes]
    return Table("index-costs", columns, [section for section in sections if section.rows])


def benefits_table(findings: Findings) -> Table | None:
    """Every kind of transaction without each index, the most harmed first; None where nothing was scanned."""
    columns = [
        Column("transaction", figures=False),
        Column("response time without / with", "95 % interval"),
        Column("p"),
        Column("p after Holm"),
        Column("without it", figures=False),
    ]
    sections = [
        Section(_heading(verdict), [_benefit_row(one) for one in verdict.benefits])
        for verdict in findings.indexes
        if verdict.benefits
    ]
    return Table("index-benefits", columns, sections) if sections else None


def _heading(verdict: IndexVerdict) -> str:
    return f"{verdict.index} on {verdict.table}: {verdict.verdict}"


def _cost_row(cost: IndexCost) -> list[Cell]:
    def text(value: float) -> str:
        return number(value) if cost.relative else numbers.percent(value)

    return [
        Cell(_under(FIGURE_NAMES[cost.figure].removeprefix("the "), cost.under)),
        Cell(text(cost.with_index)),
        Cell(text(cost.without_index)),
        Cell(numbers.ratio(cost.change.estimate), ratio_ends(cost.change)) if cost.relative else _points(cost),
        Cell(numbers.p_value(cost.p_value_holm)),
        Cell("yes" if cost.saved else "no"),
    ]


def _points(cost: IndexCost) -> Cell:
    """A difference of shares, in percentage points."""
    change = cost.change
    ends = (
        ""
        if change.low is None or change.high is None
        else f"{number(change.low * 100)} to {number(change.high * 100)}"
    )
    return Cell(f"{number(change.estimate * 100)} points", ends)


def _benefit_row(one: IndexBenefit) -> list[Cell]:
    return [
        Cell(_under(script_name(one.script), one.under)),
        Cell(numbers.ratio(one.ratio.estimate), ratio_ends(one.ratio)),
        Cell(numbers.p_value(one.p_value)),
        Cell(numbers.p_value(one.p_value_holm)),
        Cell(one.verdict),
    ]


def _under(words: str, under: str | None) -> str:
    return words if under is None else f"{words}, {under}"
