"""Who blocks whom, as a tree: a session that others wait for, what it did meanwhile, and those that wait for it."""

from __future__ import annotations

from dbdyno.analysis.server_profile.findings import Blocker, ServerProfile
from dbdyno.report.html.plan_tree import Node
from dbdyno.report.html.quantity import time_unit
from dbdyno.report.numbers import percent

QUERY_CHARACTERS = 200
NAMED_DOINGS = 3
# Further trees are folded up.
MOST_OPEN = 3


def trees(profile: ServerProfile) -> list[Node]:
    """One tree for each session at the root of a blocking chain."""
    return [_node(blocker) for blocker in profile.blockers]


def _node(blocker: Blocker) -> Node:
    return Node(_name(blocker), " · ".join(_figures(blocker)), _query(blocker), [_node(one) for one in blocker.blocked])


def _name(blocker: Blocker) -> str:
    who = " on ".join(word for word in (blocker.user, blocker.database) if word) or blocker.backend_type or ""
    application = f" ({blocker.application})" if blocker.application else ""
    return f"PID {blocker.pid}" + (f", {who}{application}" if who or application else "")


def _figures(blocker: Blocker) -> list[str]:
    figures = []
    if blocker.blocked_ns_all > 0:
        sessions = f"{blocker.sessions_blocked} session{'' if blocker.sessions_blocked == 1 else 's'}"
        figures.append(f"blocked {sessions} for {_time(blocker.blocked_ns_all)} in all")
        if blocker.blocked_ns < blocker.blocked_ns_all:
            figures.append(f"{_time(blocker.blocked_ns)} of it directly")
        if blocker.longest_ns > 0:
            figures.append(f"{_time(blocker.longest_ns)} at a stretch")
    if blocker.waited_ns > 0:
        figures.append(f"waited {_time(blocker.waited_ns)}")
    if blocker.doing:
        longest = sorted(blocker.doing.items(), key=lambda pair: -pair[1])[:NAMED_DOINGS]
        figures.append("meanwhile " + ", ".join(f"{doing} {percent(share)}" for doing, share in longest))
    if blocker.locks:
        figures.append("lock: " + ", ".join(blocker.locks))
    return figures


def _query(blocker: Blocker) -> str:
    text = " ".join((blocker.query or "").split())
    return text if len(text) <= QUERY_CHARACTERS else f"{text[: QUERY_CHARACTERS - 1].rstrip()}…"


def _time(ns: float) -> str:
    return time_unit([ns]).named(ns)
