"""Where, function by function, the time of a profile went: stacks whose widths are exact time."""

from __future__ import annotations

import dataclasses

from dbdyno.analysis.findings.estimates import Estimate


@dataclasses.dataclass(frozen=True, slots=True)
class Function:
    """The time in a function: in it or in what it called (`us`), and in it alone (`self_us`), with their shares."""

    function: str
    us: int
    share: float
    self_us: int
    self_share: float


@dataclasses.dataclass(frozen=True, slots=True)
class CommonStack:
    """One stack that nearly all snapshots of a kind share: the deepest one that so many of them begin with.

    `kind` is `cpu` or `wait`; `functions` has the root first. `share` is that of the snapshots, with its Wilson
    interval: snapshots of one long call are not independent, so it is too narrow where calls are long.
    """

    kind: str
    functions: list[str]
    snapshots: int
    of: int
    share: Estimate


@dataclasses.dataclass(frozen=True, slots=True)
class Pauses:
    """How long processes stood still for their stacks."""

    count: int
    mean_ns: float
    max_ns: int


@dataclasses.dataclass(frozen=True, slots=True)
class StackDifference:
    """The stacks of an arm and of its baseline, both for so many units of work.

    `widths` holds `[frames, baseline microseconds, arm microseconds]`, the arm's widest first.
    """

    units: int
    frames: list[str]
    widths: list[tuple[list[int], int, int]]

    def folded(self) -> str:
        """A line for each stack with both widths: what programs for differential flame graphs read."""
        lines = (f"{';'.join(self.frames[at] for at in stack)} {base} {arm}\n" for stack, base, arm in self.widths)
        return "".join(lines)


@dataclasses.dataclass(frozen=True, slots=True)
class Stacks:
    """All stacks of an arm or a profile.

    `widths` holds `[frames, microseconds]`: indices into `frames`, root first, a wait event as the last one. The
    microseconds of all of them add up to `total_us`, the time measured. A part of the profile that has no stack (run
    queue, the queue before a unit starts) is a frame of its own in square brackets.
    `left_out` names the parts that are not drawn, and why not.
    `kernel_share` is that of the time in the kernel; None where too little CPU time was seen to say.
    `cut`: the share of stacks that could not be followed to their root.
    """

    route: str | None
    note: str | None
    cpu_snapshots: int
    wait_snapshots: int
    lost: int
    cut: float
    pauses: Pauses | None
    kernel_share: float | None
    total_us: int
    frames: list[str]
    widths: list[tuple[list[int], int]]
    hottest: list[Function]
    common: list[CommonStack]
    left_out: list[str]

    def folded(self) -> str:
        """A line for each stack, `function;function;... microseconds`: what flame-graph programs read."""
        return "".join(f"{';'.join(self.frames[at] for at in stack)} {us}\n" for stack, us in self.widths)
