"""Which plans of a statement the arms have, where they are not all the same."""

from __future__ import annotations

from dbdyno.analysis.findings import Findings


def plans_that_differ(findings: Findings) -> dict[str, dict[str, list[str]]]:
    """Statement to shape to the arms that have it, for statements whose plans are not all the same everywhere."""
    by_name = {arm.arm: arm for arm in findings.arms}
    shapes = {
        arm.arm: {(plan.script, plan.line): [plan.shape, *plan.other_shapes] for plan in arm.plans}
        for arm in findings.arms
    }
    found: dict[str, dict[str, list[str]]] = {}
    for script, line in dict.fromkeys(statement for plans in shapes.values() for statement in plans):
        having = {arm: plans[script, line] for arm, plans in shapes.items() if (script, line) in plans}
        baselines = {arm: by_name[arm].baseline for arm in having}
        if any(len(own) > 1 or own != having.get(baselines[arm] or arm, own) for arm, own in having.items()):
            by_shape = found.setdefault(f"{script} line {line}", {})
            for arm, own in having.items():
                for place, shape in enumerate(own):
                    by_shape.setdefault(shape, []).append(f"{arm} (in some trials)" if place else arm)
    return found
