"""The stacks of two arms for the same number of units of work, side by side."""

from __future__ import annotations

from dbdyno.analysis.findings import Arm, StackDifference, Stacks
from dbdyno.analysis.stacks import whole

# Both sides are brought to so many units: a unit may take only microseconds, and widths are whole ones.
UNITS = 1000

Frames = tuple[str, ...]


def stack_difference(arm: Arm, baseline: Arm) -> StackDifference | None:
    """None unless both were recorded and did some work."""
    if arm.stacks is None or baseline.stacks is None:
        return None
    units = [each.units.successful + each.units.failed for each in (arm, baseline)]
    if not all(units):
        return None
    of_arm, of_baseline = (
        whole(_scaled(stacks, UNITS / count))
        for stacks, count in zip((arm.stacks, baseline.stacks), units, strict=True)
    )
    frames: dict[str, int] = {}
    both = sorted({**of_baseline, **of_arm}, key=lambda stack: (-of_arm.get(stack, 0), stack))
    widths = [
        ([frames.setdefault(frame, len(frames)) for frame in stack], of_baseline.get(stack, 0), of_arm.get(stack, 0))
        for stack in both
        if of_baseline.get(stack, 0) or of_arm.get(stack, 0)
    ]
    return StackDifference(UNITS, list(frames), widths)


def _scaled(stacks: Stacks, factor: float) -> dict[Frames, float]:
    """Nanoseconds of each stack, times the factor."""
    return {tuple(stacks.frames[at] for at in frames): us * 1e3 * factor for frames, us in stacks.widths}
