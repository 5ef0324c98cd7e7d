"""How the server executed each statement, as most trials had it, and where it changed its mind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Plan


def plans(trials: Sequence[Document]) -> list[Plan]:
    """One for each statement, in the order of their first sight."""
    seen: dict[tuple[str, int], list[Document]] = {}
    for plan in (plan for trial in trials for plan in trial.get("plans") or ()):
        seen.setdefault((plan["script"], plan["line"]), []).append(plan)
    return [_plan(script, line, found) for (script, line), found in seen.items()]


def _plan(script: str, line: int, found: Sequence[Document]) -> Plan:
    shapes = [shape for shape, _ in Counter(plan["shape"] for plan in found).most_common()]
    usual = [plan for plan in found if plan["shape"] == shapes[0]]
    return Plan(
        script=script,
        line=line,
        shape=shapes[0],
        nodes=list(usual[0]["nodes"]),
        other_shapes=shapes[1:],
        explain=next((plan["explain"] for plan in usual if plan.get("explain")), None),
    )
