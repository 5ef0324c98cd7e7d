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
    """One of the two: the parts of its profile over all its counted trials, and over those of the blocks.

    `of_blocks` has a column for each of `of_blocks_parts`: as the blocks have them in the first row, then in each
    replicate. All is per unit, or per row where arms are compared so.
    """

    parts: dict[str, float]
    of_blocks_parts: list[str]
    of_blocks: Floats

    @classmethod
    def of(cls, profile: TimeProfile, trials: Sequence[Document], resampling: Resampling, rows: int = 1) -> Side:
        """The side of one arm.

        Args:
            profile: over all its counted trials.
            trials: those of the blocks, in the order of the blocks.
            resampling: of the blocks.
            rows: those of one unit, where arms are compared per row.
        """
        sums = parts_by_trial(trials)
        return cls(
            parts={part: ns / rows for part, ns in profile.parts().items()},
            of_blocks_parts=sums.parts,
            of_blocks=sums.means(resampling) / rows,
        )

    def figures(self, parts: Sequence[str]) -> Floats:
        """These parts as the blocks have them, and in each replicate."""
        column = {part: place for place, part in enumerate(self.of_blocks_parts)}
        absent = np.zeros(len(self.of_blocks))
        return np.stack([self.of_blocks[:, column[part]] if part in column else absent for part in parts], axis=1)


def why(arm: Side, baseline: Side, resampling: Resampling) -> list[Reason]:
    """What changed, part by part, the greatest change first; the differences sum to that of the totals."""
    arm_parts, baseline_parts = arm.parts, baseline.parts
    parts = list({**baseline_parts, **arm_parts})
    figures = arm.figures(parts) - baseline.figures(parts)
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
