"""Why two arms differ: the parts of their profiles side by side, and which differences are real.

Arm and baseline met the same machine in the same block, so whole blocks are resampled and both profiles are made
from the same draw: what slowed the machine cancels.
A part is a reason only if its difference is told from zero while all parts are tested at once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Estimate, Reason, TimeProfile
from dbdyno.analysis.profile import parts_by_trial
from dbdyno.analysis.resampling import Floats, Resampling, estimates, simultaneous_p_values

# A part whose difference has so small a p value is a reason.
SIGNIFICANT = 0.05


@dataclasses.dataclass(frozen=True, slots=True)
class Side:
    """One of the two: its profile over all its counted trials, those of the blocks, and the rows of one unit.

    Where arms are compared per row, so are their profiles; else a unit has one row.
    """

    profile: TimeProfile
    trials: Sequence[Document]
    rows: int = 1

    def parts(self) -> dict[str, float]:
        """Per unit, or per row."""
        return {part: ns / self.rows for part, ns in self.profile.parts().items()}

    def figures(self, parts: Sequence[str], resampling: Resampling) -> Floats:
        """The parts as the blocks have them, and in each replicate."""
        sums = parts_by_trial(self.trials)
        own = resampling.totals(sums.ns) / resampling.totals(sums.units)[:, None] / self.rows
        column = {part: place for place, part in enumerate(sums.parts)}
        absent = np.zeros(len(own))
        return np.stack([own[:, column[part]] if part in column else absent for part in parts], axis=1)


def why(arm: Side, baseline: Side, seed: int) -> list[Reason]:
    """What changed, part by part, the greatest change first; the differences sum to that of the totals.

    The trials of both sides are in the order of the blocks.
    """
    arm_parts, baseline_parts = arm.parts(), baseline.parts()
    parts = list({**baseline_parts, **arm_parts})
    resampling = Resampling.of(len(arm.trials), seed)
    figures = arm.figures(parts, resampling) - baseline.figures(parts, resampling)
    differences = estimates(resampling.stretched(figures))
    p_values = simultaneous_p_values(figures, resampling.clusters)
    baseline_total = sum(baseline_parts.values())
    reasons = [
        _reason(part, arm_parts.get(part, 0.0), baseline_parts.get(part, 0.0), baseline_total, difference, p_value)
        for part, difference, p_value in zip(parts, differences, p_values, strict=True)
    ]
    return sorted(reasons, key=lambda reason: -abs(reason.difference_ns))


def _reason(
    part: str, arm_ns: float, baseline_ns: float, total_ns: float, difference: Estimate, p_value: float | None
) -> Reason:
    return Reason(
        part=part,
        baseline_ns=baseline_ns,
        arm_ns=arm_ns,
        difference_ns=arm_ns - baseline_ns,
        difference=difference,
        p_value=p_value,
        told=p_value is not None and p_value < SIGNIFICANT,
        baseline_share=baseline_ns / total_ns,
    )
