"""The trial specs of the self-test (docs/architecture.md has their keys)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dbdyno.targets.embedded import EmbeddedServer

WARM_UP_NS = 200_000_000
CONNECT_TIMEOUT_NS = 10_000_000_000


def trial_spec(
    server: EmbeddedServer,
    script: str,
    *,
    clients: int,
    window_ns: int,
    seed: int,
    waits: Mapping[str, Any],
    think_time_ns: int = 0,
    session_sql: Sequence[str] = (),
) -> dict[str, Any]:
    """A closed loop of one script against a server of ours; `waits` says how it is watched."""
    return {
        "target": server.endpoint.engine_target("dbdyno selftest", CONNECT_TIMEOUT_NS),
        "session_sql": list(session_sql),
        "scripts": [{"name": "planted.sql", "text": script}],
        "mode": "prepared",
        "clients": clients,
        "arrival": {"kind": "closed", "think_time_ns": think_time_ns},
        "seed": seed,
        "warm_up_ns": WARM_UP_NS,
        "window_ns": window_ns,
        "waits": {"postmaster_pid": server.postmaster_pid, **waits},
    }
