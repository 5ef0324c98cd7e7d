"""One stack that nearly all snapshots share: "the same stack in 97 % of 300 snapshots"."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

from dbdyno.analysis.findings.estimates import Estimate
from dbdyno.analysis.findings.stacks import CommonStack

Frames = tuple[str, ...]

# Of so many snapshots a stack is worth a finding, and so many make a share of them mean something.
COMMON_SHARE = 0.9
FEWEST_SNAPSHOTS = 50
# The frames in which every session is, or every statement: a stack that ends there says nothing.
EVERYBODYS = frozenset(
    {
        *("[cut]", "_start", "main", "PostmasterMain", "ServerLoop", "BackendMain", "PostgresMain"),
        *("BackgroundWorkerMain", "ParallelWorkerMain", "ParallelQueryMain"),
        *("exec_simple_query", "exec_execute_message", "PortalRun", "PortalRunSelect", "PortalRunMulti"),
        *("FillPortalStore", "ProcessQuery", "ExecutorRun", "standard_ExecutorRun", "pgss_ExecutorRun"),
    }
)
# Waiting for the client is not worth a finding.
IDLE_EVENTS = frozenset({"Client:ClientRead"})
Z_95 = 1.959963984540054


def common_stacks(counted: Mapping[tuple[str, str | None], Mapping[Frames, int]]) -> list[CommonStack]:
    """Of CPU stacks and of wait stacks the deepest beginning that nearly all of them share, if it says something."""
    found = []
    for kind in ("cpu", "wait"):
        stacks: Counter[Frames] = Counter()
        for (of_kind, event), counts in counted.items():
            if of_kind == kind and event not in IDLE_EVENTS and not (event or "").startswith("Activity:"):
                stacks.update(counts)
        if common := deepest_common(kind, stacks):
            found.append(common)
    return found


def deepest_common(kind: str, stacks: Mapping[Frames, int], share: float = COMMON_SHARE) -> CommonStack | None:
    """The longest prefix that at least `share` of the snapshots begin with; None where there is none to speak of."""
    of = sum(stacks.values())
    if of < FEWEST_SNAPSHOTS:
        return None
    prefix: Frames = ()
    snapshots = of
    while True:
        longer = _next_functions(stacks, prefix)
        function, count = max(longer.items(), key=lambda item: (item[1], item[0]), default=("", 0))
        if count < share * of:
            break
        prefix, snapshots = (*prefix, function), count
    if not prefix or prefix[-1] in EVERYBODYS:
        return None
    low, high = wilson(snapshots, of)
    return CommonStack(kind, list(prefix), snapshots, of, Estimate(snapshots / of, low, high))


def _next_functions(stacks: Mapping[Frames, int], prefix: Frames) -> Counter[str]:
    found: Counter[str] = Counter()
    for stack, count in stacks.items():
        if len(stack) > len(prefix) and stack[: len(prefix)] == prefix:
            found[stack[len(prefix)]] += count
    return found


def wilson(successes: int, of: int) -> tuple[float, float]:
    """The 95 % score interval of a share (Wilson 1927), which stays within 0 and 1 also near them."""
    share, z2 = successes / of, Z_95 * Z_95
    middle = (share + z2 / (2 * of)) / (1 + z2 / of)
    half = Z_95 / (1 + z2 / of) * math.sqrt(share * (1 - share) / of + z2 / (4 * of * of))
    return max(0.0, middle - half), min(1.0, middle + half)
