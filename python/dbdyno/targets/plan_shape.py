"""The form of a plan, without costs: what it does to which relation, by which index.

```
Aggregate > Seq Scan on web_returns
Hash Join (Hash > Seq Scan on items) > Index Scan using orders_pkey on orders
```

`>` leads to a node's first child, in parentheses stand the others; names are those of EXPLAIN's text form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Node = Mapping[str, Any]

# How EXPLAIN's text form names what JSON has in two keys (ExplainNode in explain.c).
_STRATEGIES = {
    ("Aggregate", "Sorted"): "GroupAggregate",
    ("Aggregate", "Hashed"): "HashAggregate",
    ("Aggregate", "Mixed"): "MixedAggregate",
    ("SetOp", "Hashed"): "HashSetOp",
}
# What a node asks once or for each row, rather than reads from.
_SUBORDINATE = ("InitPlan", "SubPlan")


def plan_shape(plan: Node) -> str:
    """The plan below `plan`, as one line."""
    first, others = _children(plan)
    aside = "".join(f" ({plan_shape(child)})" for child in others)
    return f"{node_label(plan)}{aside}" + (f" > {plan_shape(first)}" if first is not None else "")


def plan_nodes(plan: Node) -> list[str]:
    """The kinds of nodes, each once, from the top: as JSON names them and, where that differs, as the text form does.

    So `Seq Scan` is found in a plan with a `Parallel Seq Scan`, and `Aggregate` in one with a `HashAggregate`.
    """
    return list(dict.fromkeys(name for node in _all(plan) for name in (node["Node Type"], _name(node))))


def _all(node: Node) -> Iterator[Node]:
    yield node
    for child in node.get("Plans", ()):
        yield from _all(child)


def _children(node: Node) -> tuple[Node | None, list[Node]]:
    children = list(node.get("Plans", ()))
    first = next((child for child in children if child.get("Parent Relationship") not in _SUBORDINATE), None)
    return first, [child for child in children if child is not first]


def _name(node: Node) -> str:
    kind: str = node["Node Type"]
    if kind == "ModifyTable":
        return str(node.get("Operation", kind))
    name = _STRATEGIES.get((kind, node.get("Strategy", "")), kind)
    if node.get("Partial Mode", "Simple") != "Simple":
        name = f"{node['Partial Mode']} {name}"
    return f"Parallel {name}" if node.get("Parallel Aware") else name


def node_label(node: Node) -> str:
    """One node, without those beneath."""
    index, relation = node.get("Index Name"), node.get("Relation Name")
    if node["Node Type"] == "Bitmap Index Scan":
        return f"{_name(node)} on {index}"
    return _name(node) + (f" using {index}" if index else "") + (f" on {relation}" if relation else "")
