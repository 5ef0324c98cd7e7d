"""Who held up whom, for how long, and what the blocker was doing meanwhile.

The control connection asked a few times a second; each look stands for the time to the next. In one look a waiter may
wait for several: the holder of the lock, and those in line before it. It is put below the one that is nearest to a
session that waits for nobody, so that a line of waiters is one blocker with many below it, and each waits once.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Mapping

from dbdyno.analysis.documents import Document
from dbdyno.analysis.server_profile.findings import Blocker

MOST_ROOTS = 10
MOST_BELOW = 20
PREPARED = "prepared transaction"
TRANSACTION = re.compile(r"transaction \d+")

Path = tuple[int, ...]


@dataclasses.dataclass(slots=True)
class _Node:
    """What is known of one place in the tree: looks at it, at its waiting, and at what it did."""

    waited: int = 0
    blocking: list[tuple[int, set[str | None]]] = dataclasses.field(default_factory=list)
    doing: Counter[str] = dataclasses.field(default_factory=Counter)
    locks: Counter[str] = dataclasses.field(default_factory=Counter)
    queries: Counter[str] = dataclasses.field(default_factory=Counter)


def blockers(sessions: Document | None, elapsed_ns: float) -> list[Blocker]:
    """The trees, the blocker with the most time behind it first."""
    if sessions is None or not sessions["blocking"] or not sessions["polls"]:
        return []
    nodes: dict[Path, _Node] = {}
    seen = _seen(sessions)
    for poll, waits in _by_poll(sessions).items():
        _add_look(nodes, poll, waits, seen.get(poll, {}))
    look_ns = elapsed_ns / sessions["polls"]
    about = {entry["pid"]: entry for entry in sessions["processes"]}
    roots = [_tree(path, nodes, about, look_ns) for path in nodes if len(path) == 1]
    return sorted(roots, key=lambda root: (-root.blocked_ns_all, root.pid))[:MOST_ROOTS]


def _by_poll(sessions: Document) -> dict[int, dict[int, tuple[list[int], str | None]]]:
    found: dict[int, dict[int, tuple[list[int], str | None]]] = {}
    for poll, pid, holders, lock in sessions["blocking"]:
        others = [holder for holder in holders if holder != pid]
        if others:
            found.setdefault(poll, {})[pid] = (others, lock)
    return found


def _seen(sessions: Document) -> dict[int, dict[int, tuple[str, str | None]]]:
    """What each session did in each look, in words, and its query."""
    found: dict[int, dict[int, tuple[str, str | None]]] = {}
    for poll, pid, state, wait, query in sessions["seen"]:
        text = None if query is None else str(sessions["queries"][query]["text"])
        found.setdefault(poll, {})[pid] = (_doing(state, wait), text)
    return found


def _doing(state: str | None, wait: str | None) -> str:
    if state != "active":
        return state or "unknown"
    return f"active: {wait or 'no wait event'}"


def _add_look(
    nodes: dict[Path, _Node],
    poll: int,
    waits: Mapping[int, tuple[list[int], str | None]],
    seen: Mapping[int, tuple[str, str | None]],
) -> None:
    above = _parents(waits)
    holding = set(above.values())
    for pid in {*above, *holding}:
        path = _path(pid, above)
        node = nodes.setdefault(path, _Node())
        doing, query = seen.get(pid, (PREPARED if pid == 0 else "unknown", None))
        if pid in above:
            node.waited += 1
            lock = waits[pid][1]
            node.locks.update([lock] if lock else [])
        if pid in holding:
            node.blocking.append((poll, {_held(waits[below][1]) for below in above if above[below] == pid}))
            node.doing["blocked" if pid in above else doing] += 1
        node.queries.update([query] if query else [])


def _parents(waits: Mapping[int, tuple[list[int], str | None]]) -> dict[int, int]:
    """The one blocker of each waiter that is nearest to a root; of a circle (a deadlock) one member is the root."""
    depth = {holder: 0 for holders, _ in waits.values() for holder in holders if holder not in waits}
    above: dict[int, int] = {}
    left = dict(waits)
    while left:
        ready = {pid: [holder for holder in holders if holder in depth] for pid, (holders, _) in left.items()}
        ready = {pid: holders for pid, holders in ready.items() if holders}
        if not ready:
            depth[min(left)] = 0
            del left[min(left)]
            continue
        for pid, holders in ready.items():
            above[pid] = min(holders, key=lambda holder: (depth[holder], holder))
            del left[pid]
        depth |= {pid: depth[above[pid]] + 1 for pid in ready}
    return above


def _path(pid: int, above: Mapping[int, int]) -> Path:
    path = [pid]
    while path[0] in above:
        path.insert(0, above[path[0]])
    return tuple(path)


def _held(lock: str | None) -> str | None:
    """What must be the same for it to be the same hold: the transaction, where the lock names one."""
    found = TRANSACTION.search(lock) if lock else None
    return found[0] if found else lock


def _longest(looks: list[tuple[int, set[str | None]]], look_ns: float) -> int:
    """How many looks at most came one after the other at the same hold, with no look missing between them."""
    longest, run, before, held = 0, 0, None, set[str | None]()
    for poll, now in looks:
        goes_on = before is not None and poll - before < 1.7 * look_ns and not held.isdisjoint(now)
        run = run + 1 if goes_on else 1
        longest, before, held = max(longest, run), poll, now
    return longest


def _tree(path: Path, nodes: Mapping[Path, _Node], about: Mapping[int, Document], look_ns: float) -> Blocker:
    node = nodes[path]
    children = [_tree(other, nodes, about, look_ns) for other in nodes if other[:-1] == path]
    children.sort(key=lambda child: (-child.waited_ns - child.blocked_ns_all, child.pid))
    below = {pid for other in nodes if other[: len(path)] == path for pid in other[len(path) :]}
    entry = about.get(path[-1], {})
    locks = Counter(lock for other in nodes if other[:-1] == path for lock in nodes[other].locks.elements())
    return Blocker(
        pid=path[-1],
        backend_type=PREPARED if path[-1] == 0 else entry.get("backend_type"),
        user=entry.get("user"),
        database=entry.get("database"),
        application=entry.get("application"),
        query=next((query for query, _ in node.queries.most_common(1)), None),
        doing={doing: looks / len(node.blocking) for doing, looks in node.doing.most_common()},
        waited_ns=node.waited * look_ns,
        blocked_ns=sum(child.waited_ns for child in children),
        blocked_ns_all=sum(child.waited_ns + child.blocked_ns_all for child in children),
        longest_ns=_longest(node.blocking, look_ns) * look_ns,
        sessions_blocked=len(below),
        locks=[lock for lock, _ in locks.most_common(5)],
        blocked=children[:MOST_BELOW],
    )
