"""What a comparison of two profiles concludes: plain frozen dataclasses, the only thing its reports may look at."""

from __future__ import annotations

import dataclasses

from dbdyno.analysis.findings import Estimate, Warning


@dataclasses.dataclass(frozen=True, slots=True)
class Side:
    """One of two profiles that are compared, in short."""

    target: str
    started_at: str | None
    seconds: float
    route: str
    active_sessions_mean: Estimate
    commits_per_s: float | None
    ns_per_commit: Estimate | None


@dataclasses.dataclass(frozen=True, slots=True)
class Moved:
    """One part or query in both profiles, and the difference, second minus first.

    Figures are average active sessions, or nanoseconds per commit. `changed`: the interval of the difference does not
    hold 0. `text` is the query's.
    """

    name: str | None
    first: Estimate
    second: Estimate
    difference: Estimate
    changed: bool
    text: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class ProfileComparison:
    """Where the time moved from the first profile to the second, the greatest difference first.

    `parts` and `by_query` are in average active sessions; `parts_per_commit` in nanoseconds per commit, empty where a
    profile does not know its commits. The differences of the parts sum to that of the whole.
    """

    format: int
    first: Side
    second: Side
    active_sessions: Moved
    per_commit: Moved | None
    parts: list[Moved]
    parts_per_commit: list[Moved]
    by_query: list[Moved]
    sentences: list[str]
    warnings: list[Warning]
