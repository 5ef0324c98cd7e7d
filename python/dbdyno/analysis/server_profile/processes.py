"""Who is who on a server: which processes are sessions, whose worker a worker is, and what is background.

Database time is that of *sessions*: client backends, and parallel workers on behalf of their leader.
Everything else serves no client by itself. An I/O worker above all: what it does is what a session waits for at the
same time (`IO:AioIoCompletion`), so that it is shown as a server of its own with a busy share, never as database time.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from dbdyno.analysis.documents import Document

SESSION_TYPES = frozenset({"client backend", "parallel worker"})
IO_WORKER = "io worker"


@dataclasses.dataclass(frozen=True, slots=True)
class Process:
    """One process of the server; `leader` is the index of the process that it works for, its own where it leads."""

    pid: int
    backend_type: str
    leader: int
    is_session: bool
    user: str | None
    database: str | None
    application: str | None


def processes(watch: Document, sessions: Document | None) -> list[Process]:
    """The processes of a watch, in its order, with what the control connection knew of their sessions."""
    watched = watch["processes"]
    polled = [] if sessions is None else sessions["processes"]
    return [_process(watched, place, polled) for place in range(len(watched))]


def _process(watched: Sequence[Document], place: int, polled: Sequence[Document]) -> Process:
    leader = _leader(watched, place, polled)
    owner = _session(polled, watched[leader])
    kind = str(watched[place]["backend_type"])
    return Process(
        pid=int(watched[place]["pid"]),
        backend_type=kind,
        leader=leader,
        is_session=kind in SESSION_TYPES,
        user=owner.get("user"),
        database=owner.get("database"),
        application=owner.get("application"),
    )


def _leader(watched: Sequence[Document], place: int, polled: Sequence[Document]) -> int:
    """Its leader among the watched, by either source; itself where it has none or the leader was not seen."""
    process = watched[place]
    pid = process.get("leader_pid") or _session(polled, process).get("leader_pid")
    if pid is None or pid == process["pid"]:
        return place
    leaders = [other for other, candidate in enumerate(watched) if candidate["pid"] == pid]
    return max(leaders, key=lambda other: _overlap_ns(watched[other], process), default=place)


def _session(polled: Sequence[Document], process: Document) -> Document:
    """What the control connection knew of a process; a pid may be used again, so the longest overlap decides."""
    same = [entry for entry in polled if entry["pid"] == process["pid"]]
    return max(same, key=lambda entry: _overlap_ns(entry, process), default={})


def _overlap_ns(one: Document, other: Document) -> int:
    """How long both lived at the same time; negative by the time between them."""
    return int(min(one["last_ns"], other["last_ns"]) - max(one["first_ns"], other["first_ns"]))
