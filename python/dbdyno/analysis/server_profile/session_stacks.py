"""Stacks of the sessions of a server, as wide as their database time."""

from __future__ import annotations

from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Stacks
from dbdyno.analysis.server_profile.findings import TimeParts
from dbdyno.analysis.stacks import stacks_of

# Whose time database time is; other processes wait for work most of the time.
_TYPES = frozenset({"client backend", "parallel worker", "walsender"})


def session_stacks(record: Document, profile_ns: TimeParts) -> Stacks | None:
    """The stacks that were recorded beside a profile; None where they were not asked for."""
    recorded = record.get("stacks")
    if not recorded:
        return None
    types = {process["pid"]: process["backend_type"] for process in record["watch"]["processes"]}
    of_sessions = [stack for stack in recorded["stacks"] if types.get(stack[0]) in _TYPES]
    kernel = recorded.get("kernel") or {"seen": True, "share": None}
    return stacks_of([{**recorded, "kernel": kernel, "stacks": of_sessions}], profile_ns.parts())
