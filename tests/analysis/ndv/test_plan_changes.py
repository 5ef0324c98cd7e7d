"""Two plans of a statement beside each other."""

from __future__ import annotations

from typing import Any

from dbdyno.analysis.ndv.plan_changes import plan_change, what_if_findings


def plan(*nodes: tuple[str, float, float]) -> dict[str, Any]:
    """A plan that is a chain: label, rows, cost of each node from the top."""
    return {
        "shape": " > ".join(label for label, _, _ in nodes),
        "nodes": [
            {"label": label, "depth": depth, "rows": rows, "cost": cost}
            for depth, (label, rows, cost) in enumerate(nodes)
        ],
    }


def statement(before: dict[str, Any] | None, after: dict[str, Any] | None, note: str | None = None) -> dict[str, Any]:
    """As `ndv.postgres.what_if` returns it."""
    return {"statement": "SELECT", "calls": 3, "total_ms": 1.5, "before": before, "after": after, "note": note}


SORTED = plan(("GroupAggregate", 200, 90.0), ("Sort", 1000, 80.0), ("Seq Scan on t", 1000, 10.0))
HASHED = plan(("HashAggregate", 900, 30.0), ("Seq Scan on t", 1000, 10.0))


def test_another_plan() -> None:
    """Nodes of one name are the same node; the others stand on one side each."""
    change = plan_change(statement(SORTED, HASHED))

    assert change.outcome == "other_plan"
    assert (change.cost_before, change.cost_after, change.calls, change.total_ms) == (90.0, 30.0, 3, 1.5)
    assert [(node.before, node.after) for node in change.nodes] == [
        ("GroupAggregate", None),
        ("Sort", None),
        (None, "HashAggregate"),
        ("Seq Scan on t", "Seq Scan on t"),
    ]


def test_the_same_plan_with_other_estimates() -> None:
    """Rows and costs of each node, before and after."""
    change = plan_change(
        statement(plan(("Sort", 10, 5.0), ("Scan", 10, 1.0)), plan(("Sort", 90, 7.0), ("Scan", 10, 1.0)))
    )

    assert change.outcome == "other_estimates"
    assert [(node.rows_before, node.rows_after, node.cost_after) for node in change.nodes] == [
        (10, 90, 7.0),
        (10, 10, 1.0),
    ]


def test_nothing_changes() -> None:
    """To the last digit."""
    assert plan_change(statement(SORTED, SORTED)).outcome == "unchanged"


def test_a_statement_without_a_plan() -> None:
    """Says why."""
    change = plan_change(statement(None, None, 'relation "x" does not exist'))

    assert (change.outcome, change.note, change.nodes) == ("not_planned", 'relation "x" does not exist', [])


def test_a_refusal_is_handed_on() -> None:
    """With what was left out."""
    found = what_if_findings({"refused": "locked", "statements": [], "left_out": ["2 statements"]})

    assert (found.refused, found.statements, found.left_out) == ("locked", [], ["2 statements"])
