"""The tables of a distinct count: columns and groups, what their figures are used for, what refers to what."""

from __future__ import annotations

from collections.abc import Sequence

from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.ndv.findings import ColumnFindings, ForeignKey, GroupFindings, NdvFindings
from dbdyno.report import numbers
from dbdyno.report.html.ndv.judged import Judged
from dbdyno.report.html.table import Cell, Column, Section, Table
from dbdyno.report.ndv.words import VERDICTS, count, counts_of, factor, figure, sufficient, times, within


def counts(found: NdvFindings) -> Table:
    """Columns, then groups; what no source has is no column."""
    every = [one for _, one in counts_of(found)]
    nulls = any(isinstance(one, ColumnFindings) and one.nulls for one in every)
    compared = any(one.planner is not None for one in every)
    columns = [
        Column("column", figures=False),
        *([Column("NULL")] if nulls else []),
        Column("different values"),
        *([Column("planner"), Column("off by", figures=False), Column("verdict", figures=False)] if compared else []),
    ]
    rows = [(one, _row(name, one, found.rows, nulls=nulls, compared=compared)) for name, one in counts_of(found)]
    parts: dict[str | None, type] = {None: ColumnFindings, "columns together": GroupFindings}
    sections = [
        Section(heading, [row for one, row in rows if isinstance(one, kind)])
        for heading, kind in parts.items()
        if any(isinstance(one, kind) for one, _ in rows)
    ]
    return Table("columns", columns, sections)


def _row(name: str, one: ColumnFindings | GroupFindings, rows: int, *, nulls: bool, compared: bool) -> list[Cell]:
    kind, empty = (one.type, one.nulls) if isinstance(one, ColumnFindings) else ("", 0)
    return [
        Cell(name, kind),
        *([Cell(numbers.percent(empty / rows) if empty else "")] if nulls else []),
        Cell(figure(one.ndv, exact=one.exact), within(one.ndv, exact=one.exact).replace("+-", "± ")),
        *(_judged(one) if compared else []),
    ]


def _judged(one: ColumnFindings | GroupFindings) -> list[Cell]:
    return [
        Cell(numbers.NOTHING if one.planner is None else count(one.planner), one.planner_source or ""),
        Cell(factor(one), _ends(one)),
        Cell(VERDICTS[one.verdict]),
    ]


def _ends(one: ColumnFindings | GroupFindings) -> str:
    """Of the error factor; empty where they are the same in its digits."""
    low, high = one.error_factor_low, one.error_factor_high
    if low is None or high is None or times(low) == times(high):
        return ""
    return f"{times(low)} to {times(high)}"


def predictions(every: Sequence[Judged]) -> Table | None:
    """By how much ANALYZE would be off with each target, and which would do."""
    shown = [(one, one.one) for one in every if isinstance(one.one, ColumnFindings) and one.one.analyze]
    if not shown:
        return None
    targets = sorted({each.target for _, column in shown for each in column.analyze})
    rows = []
    for one, column in shown:
        said_at = {each.target: each for each in column.analyze}
        cells = [
            Cell(times(said_at[target].error_factor), count(said_at[target].ndv))
            if target in said_at
            else Cell(numbers.NOTHING)
            for target in targets
        ]
        rows.append([Cell(one.name), *cells, Cell(sufficient(column))])
    columns = [
        Column("column", figures=False),
        *(Column(f"target {target:,}") for target in targets),
        Column("which would do", figures=False),
    ]
    return Table("analyze", columns, [Section(None, rows)])


def uses(every: Sequence[Judged]) -> Table | None:
    """What the planner does with each wrong figure, and whether that comes out differently."""
    sections = [
        Section(
            one.name, [[Cell(use.use), Cell("yes" if use.matters else "no"), Cell(use.words)] for use in one.one.uses]
        )
        for one in every
        if not one.is_right and one.one.uses
    ]
    columns = [Column("use", figures=False), Column("matters", figures=False), Column("because", figures=False)]
    return Table("uses", columns, sections) if sections else None


def foreign_keys(name: str, hints: Sequence[ForeignKey]) -> Table | None:
    """Which column's values are those of another."""
    rows = [
        [
            Cell(hint.column),
            Cell(hint.refers_to),
            Cell(hint.standing),
            Cell(numbers.percent(hint.orphans.estimate), _between(hint.orphans, exact=hint.exact)),
            Cell(numbers.percent(hint.coverage)),
            Cell(hint.words),
        ]
        for hint in hints
    ]
    columns = [
        Column("column", figures=False),
        Column("refers to", figures=False),
        Column("standing", figures=False),
        Column("orphans", "of its values"),
        Column("it has", "of the values there"),
        Column("because", figures=False),
    ]
    return Table(name, columns, [Section(None, rows)]) if rows else None


def _between(share: Estimate, *, exact: bool) -> str:
    if exact or share.low is None or share.high is None:
        return "exact" if exact else ""
    return f"{numbers.percent(share.low)} to {numbers.percent(share.high)}"
