"""A plan's form: what, on which relation, by which index; no costs."""

from __future__ import annotations

from typing import Any

from dbdyno.targets.plan_shape import plan_nodes, plan_shape


def node(kind: str, *children: dict[str, Any], **keys: Any) -> dict[str, Any]:
    """A node of EXPLAIN (FORMAT JSON); underscores in keys stand for spaces."""
    named = {name.replace("_", " "): value for name, value in keys.items()}
    return {"Node Type": kind, "Total Cost": 17.3, **named, **({"Plans": list(children)} if children else {})}


SCAN = node("Seq Scan", Relation_Name="web_returns")


def test_a_chain_reads_from_the_top() -> None:
    """The contract's example."""
    plan = node("Aggregate", SCAN, Strategy="Plain", Partial_Mode="Simple")

    assert plan_shape(plan) == "Aggregate > Seq Scan on web_returns"
    assert plan_nodes(plan) == ["Aggregate", "Seq Scan"]


def test_other_children_stand_in_parentheses() -> None:
    """And the first one, which the chain follows, behind them; a sub-plan is never that."""
    once = node("Result", Parent_Relationship="InitPlan")
    outer = node("Index Scan", Relation_Name="orders", Index_Name="orders_pkey", Parent_Relationship="Outer")
    inner = node("Hash", node("Seq Scan", Relation_Name="items"), Parent_Relationship="Inner")

    assert plan_shape(node("Hash Join", once, outer, inner)) == (
        "Hash Join (Result) (Hash > Seq Scan on items) > Index Scan using orders_pkey on orders"
    )


def test_names_are_those_of_the_text_form() -> None:
    """Strategy, partial mode, parallelism, operation; the plain name is among the nodes as well."""
    scan = node("Seq Scan", Relation_Name="t", Parallel_Aware=True)
    plan = node("Gather", node("Aggregate", scan, Strategy="Hashed", Partial_Mode="Partial"))

    assert plan_shape(plan) == "Gather > Partial HashAggregate > Parallel Seq Scan on t"
    assert plan_nodes(plan) == ["Gather", "Aggregate", "Partial HashAggregate", "Seq Scan", "Parallel Seq Scan"]
    update = node("ModifyTable", SCAN, Operation="Update", Relation_Name="web_returns")
    assert plan_shape(update) == "Update on web_returns > Seq Scan on web_returns"
    bitmap = node("Bitmap Heap Scan", node("Bitmap Index Scan", Index_Name="i"), Relation_Name="t")
    assert plan_shape(bitmap) == "Bitmap Heap Scan on t > Bitmap Index Scan on i"


def test_costs_do_not_matter() -> None:
    """Two estimates of one plan have one shape."""
    assert plan_shape({**SCAN, "Total Cost": 1.0, "Plan Rows": 7}) == plan_shape(SCAN)
