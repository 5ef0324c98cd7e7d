"""The stacks that were recorded beside a profile: those of sessions, the most common first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dbdyno.analysis.documents import Document
from dbdyno.analysis.server_profile.findings import CommonStack, Stacks
from dbdyno.analysis.server_profile.processes import Process

MOST_STACKS = 20

Key = tuple[str, str | None, tuple[str, ...]]


def stacks(recorded: Document | None, processes: Sequence[Process]) -> Stacks | None:
    """A summary; None where no stacks were asked for."""
    if recorded is None:
        return None
    sessions = {process.pid for process in processes if process.is_session}
    counts: Counter[Key] = Counter()
    for pid, kind, event, frames, count in recorded["stacks"]:
        if pid in sessions:
            counts[kind, event, tuple(str(recorded["frames"][frame]) for frame in frames)] += count
    of_kind: Counter[str] = Counter()
    for (kind, _, _), count in counts.items():
        of_kind[kind] += count
    return Stacks(
        route=recorded["route"],
        note=recorded["note"],
        count=counts.total(),
        lost=recorded["lost"],
        common=[
            CommonStack(kind=kind, event=event, frames=list(frames), count=count, share=count / of_kind[kind])
            for (kind, event, frames), count in counts.most_common(MOST_STACKS)
        ],
    )
