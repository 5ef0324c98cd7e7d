"""The `instrument` of the machine record: what the last self-test of this machine found.

A home directory may be another machine's, too: its self-test says nothing of this one.

It is copied into the run, because a report must not depend on what the machine remembers later.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dbdyno.store import state


def instrument_record(environment: Mapping[str, str], host: str) -> dict[str, Any] | None:
    """None where there was no self-test on this host, or none that can be read: a run does not need one."""
    kept = state.recall("selftest", environment)
    if kept is None or kept.get("host") != host:
        return None
    try:
        return {
            **{key: kept[key] for key in ("measured_at", "server_version", "verdict", "tolerance", "cost")},
            "planted": sum(len(truth["repeats"]) for truth in kept["truths"]),
            "found": sum(truth["inside"] for truth in kept["truths"]),
        }
    except (KeyError, TypeError):  # written by hand, or by a version that kept something else
        return None
