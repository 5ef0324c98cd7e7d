"""Plans of statements as they are and as they would be with a fix: which nodes, row estimates and costs change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from dbdyno.analysis.documents import Document
from dbdyno.analysis.ndv.findings import NodeChange, PlanChange, WhatIf

OTHER_PLAN, OTHER_ESTIMATES, UNCHANGED, NOT_PLANNED = "other_plan", "other_estimates", "unchanged", "not_planned"


def what_if_findings(document: Document) -> WhatIf:
    """Of the document of `ndv.postgres.what_if`."""
    return WhatIf(
        refused=document["refused"],
        statements=[plan_change(one) for one in document["statements"]],
        left_out=list(document["left_out"]),
    )


def plan_change(statement: Document) -> PlanChange:
    """Of one statement; the first node of a plan is its top."""
    before, after = statement["before"], statement["after"]
    if before is None or after is None:
        return _change(statement, NOT_PLANNED, [])
    nodes = list(_nodes(before["nodes"], after["nodes"]))
    if before["shape"] != after["shape"]:
        return _change(statement, OTHER_PLAN, nodes)
    same = all((one.rows_before, one.cost_before) == (one.rows_after, one.cost_after) for one in nodes)
    return _change(statement, UNCHANGED if same else OTHER_ESTIMATES, nodes)


def _change(statement: Document, outcome: str, nodes: list[NodeChange]) -> PlanChange:
    before, after = statement["before"], statement["after"]
    return PlanChange(
        statement=statement["statement"],
        outcome=outcome,
        cost_before=before["nodes"][0]["cost"] if before else None,
        cost_after=after["nodes"][0]["cost"] if after else None,
        shape_before=before["shape"] if before else None,
        shape_after=after["shape"] if after else None,
        nodes=nodes,
        calls=statement["calls"],
        total_ms=statement["total_ms"],
        note=statement["note"],
    )


def _nodes(before: Sequence[Document], after: Sequence[Document]) -> Iterator[NodeChange]:
    """Nodes of one name in one order are the same node; between them stand those that only one plan has."""
    labels = [[node["label"] for node in plan] for plan in (before, after)]
    place = (0, 0)
    for block in SequenceMatcher(a=labels[0], b=labels[1], autojunk=False).get_matching_blocks():
        yield from (_node(node, None) for node in before[place[0] : block.a])
        yield from (_node(None, node) for node in after[place[1] : block.b])
        for step in range(block.size):
            yield _node(before[block.a + step], after[block.b + step])
        place = (block.a + block.size, block.b + block.size)


def _node(before: Document | None, after: Document | None) -> NodeChange:
    was, would_be = ({} if node is None else node for node in (before, after))
    return NodeChange(
        depth=(would_be or was)["depth"],
        before=was.get("label"),
        after=would_be.get("label"),
        rows_before=was.get("rows"),
        rows_after=would_be.get("rows"),
        cost_before=was.get("cost"),
        cost_after=would_be.get("cost"),
    )
