"""Plans of statements as they are and as they would be with the fix, node by node."""

from __future__ import annotations

import dataclasses

from dbdyno.analysis.ndv.findings import NdvFindings, NodeChange, PlanChange
from dbdyno.report import numbers
from dbdyno.report.html.quantity import whole
from dbdyno.report.html.table import Cell, Column, Section, Table
from dbdyno.report.ndv.words import plan_words

# One step down in the tree; HTML does not collapse it.
INDENT = "\u2002"


@dataclasses.dataclass(frozen=True, slots=True)
class Planned:
    """A statement, what becomes of its plan, and its nodes before and after where they differ."""

    statement: str
    words: str
    load: str
    other_plan: bool
    nodes: Table | None


def planned(found: NdvFindings) -> list[Planned]:
    """Every statement that was asked for."""
    return [] if found.what_if is None else [_planned(one, at) for at, one in enumerate(found.what_if.statements, 1)]


def _planned(change: PlanChange, place: int) -> Planned:
    differs = any(node.before != node.after or node.rows_before != node.rows_after for node in change.nodes)
    return Planned(
        statement=change.statement.strip(),
        words=f"{plan_words(change)}.",
        load=_load(change),
        other_plan=change.outcome == "other_plan",
        nodes=_nodes(change, place) if differs else None,
    )


def _load(change: PlanChange) -> str:
    """How often it ran and how long that took, of pg_stat_statements."""
    calls = "" if change.calls is None else f"{numbers.count(change.calls, 'call')} so far"
    took = "" if change.total_ms is None else f"{numbers.duration(change.total_ms * 1e6)} in all"
    return ", ".join(filter(None, (calls, took)))


def _nodes(change: PlanChange, place: int) -> Table:
    columns = [
        Column("node", figures=False),
        Column("rows", "before"),
        Column("rows", "with the fix"),
        Column("cost", "before"),
        Column("cost", "with the fix"),
    ]
    return Table(f"plan-{place}", columns, [Section(None, [_row(node) for node in change.nodes])])


def _row(node: NodeChange) -> list[Cell]:
    return [
        Cell(f"{INDENT * node.depth}{node.after or node.before}"),
        *(
            Cell("" if value is None else whole(round(value)))
            for value in (node.rows_before, node.rows_after, node.cost_before, node.cost_after)
        ),
    ]
