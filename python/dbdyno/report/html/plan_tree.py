"""A plan as the server explained it: an indented tree with rows, time and buffers of each node.

Figures are the server's own: times hold those of the nodes beneath, rows and times are means of one loop.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from dbdyno.analysis.findings import Arm, Findings, Plan
from dbdyno.report.html.quantity import number, time_unit, whole
from dbdyno.report.numbers import size

CONDITIONS = ("Index Cond", "Recheck Cond", "Hash Cond", "Merge Cond", "Join Filter", "Filter", "Sort Key", "Group Key")
BUFFERS = {
    "Shared Hit Blocks": "hit",
    "Shared Read Blocks": "read",
    "Shared Dirtied Blocks": "dirtied",
    "Shared Written Blocks": "written",
    "Temp Read Blocks": "temp read",
    "Temp Written Blocks": "temp written",
}


@dataclasses.dataclass(frozen=True, slots=True)
class Node:
    """One node: what it is, what it did, under which condition, and the nodes beneath."""

    name: str
    figures: str
    condition: str
    children: Sequence[Node]


@dataclasses.dataclass(frozen=True, slots=True)
class Shape:
    """One way in which a statement was executed, the arms that did so, and the tree of the first of them."""

    shape: str
    arms: str
    of_arm: str
    tree: Node | None


@dataclasses.dataclass(frozen=True, slots=True)
class Statement:
    """A statement and its shapes."""

    name: str
    shapes: Sequence[Shape]


def statements(findings: Findings) -> list[Statement]:
    """Every statement whose plan was taken."""
    found: dict[str, dict[str, list[tuple[Arm, Plan]]]] = {}
    sometimes: dict[str, dict[str, list[Arm]]] = {}
    for arm in findings.arms:
        for plan in arm.plans:
            name = f"{plan.script} line {plan.line}"
            found.setdefault(name, {}).setdefault(plan.shape, []).append((arm, plan))
            for other in plan.other_shapes:
                sometimes.setdefault(name, {}).setdefault(other, []).append(arm)
    return [
        Statement(
            name,
            [
                _shape(shape, by_shape.get(shape, []), sometimes.get(name, {}).get(shape, []))
                for shape in dict.fromkeys([*by_shape, *sometimes.get(name, {})])
            ],
        )
        for name, by_shape in found.items()
    ]


def _shape(shape: str, usual: Sequence[tuple[Arm, Plan]], sometimes: Sequence[Arm]) -> Shape:
    explained = next(((arm, plan.explain) for arm, plan in usual if plan.explain), None)
    arms = [arm.arm for arm, _ in usual] + [f"{arm.arm} (in some trials)" for arm in sometimes]
    if explained is None:
        return Shape(shape, ", ".join(arms), "", None)
    arm, document = explained
    return Shape(shape, ", ".join(arms), arm.arm, tree(document.get("Plan", document)))


def tree(plan: Mapping[str, Any]) -> Node:
    """A node of EXPLAIN's JSON and all beneath it."""
    condition = next((f"{key}: {_text(plan[key])}" for key in CONDITIONS if key in plan), "")
    return Node(_name(plan), _figures(plan), condition, [tree(child) for child in plan.get("Plans", ())])


def _name(plan: Mapping[str, Any]) -> str:
    using = f" using {plan['Index Name']}" if "Index Name" in plan else ""
    on = f" on {plan['Relation Name']}" if "Relation Name" in plan else ""
    return f"{plan.get('Node Type', 'unknown node')}{using}{on}"


def _figures(plan: Mapping[str, Any]) -> str:
    parts = []
    if "Actual Rows" in plan:
        loops = plan.get("Actual Loops", 1)
        each = f" in each of {whole(loops)} loops" if loops > 1 else ""
        planned = f" ({_rows(plan['Plan Rows'])} planned)" if "Plan Rows" in plan else ""
        rows = _rows(plan["Actual Rows"])
        parts.append(f"{rows} row{'' if rows == '1' else 's'}{each}{planned}")
    if "Actual Total Time" in plan:
        ns = float(plan["Actual Total Time"]) * 1e6
        parts.append(time_unit([ns]).named(ns))
    buffers = [f"{whole(plan[key])} {words}" for key, words in BUFFERS.items() if plan.get(key)]
    if buffers:
        parts.append("pages: " + ", ".join(buffers))
    if plan.get("WAL Bytes"):
        parts.append(f"WAL {size(plan['WAL Bytes'])}")
    return " · ".join(parts)


def _rows(value: float) -> str:
    """Whole rows as they are; a mean over loops may be a fraction."""
    return whole(int(value)) if value == int(value) else number(value)


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
