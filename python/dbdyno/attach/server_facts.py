"""What the server is: version, settings that bear on a profile, and the CPUs of its host where that is ours."""

from __future__ import annotations

import os
from typing import Any

import psycopg

from dbdyno.targets.readings import non_default_settings
from dbdyno.targets.target import Connection

# What decides which of the server's counters say anything, and how its I/O and its query ids come about.
_SETTINGS = (
    *(
        "block_size",
        "track_io_timing",
        "track_wal_io_timing",
        "track_activities",
        "track_activity_query_size",
        "compute_query_id",
    ),
    *("compute_query_id", "io_method", "io_workers", "shared_buffers", "max_connections", "synchronous_commit"),
)


def server_facts(connection: Connection | None, *, same_host: bool) -> dict[str, Any]:
    """`server` of the record; a figure that is not known is null."""
    facts: dict[str, Any] = {
        "version": None,
        "version_number": None,
        "in_recovery": None,
        "started_at": None,
        "user": None,
        "settings": {},
        "cpus": len(os.sched_getaffinity(0)) if same_host else None,
    }
    if connection is None:
        return facts
    facts["version"] = (connection.info.parameter_status("server_version") or "").split(" ")[0] or None
    facts["version_number"] = connection.info.server_version
    try:
        row = connection.execute(
            "SELECT pg_is_in_recovery(), pg_postmaster_start_time(), current_user::text"
        ).fetchone()
        assert row is not None
        facts |= {"in_recovery": row[0], "started_at": row[1].isoformat(), "user": row[2]}
        named = connection.execute(
            "SELECT name, current_setting(name) FROM pg_settings WHERE name = ANY(%s)", [list(_SETTINGS)]
        ).fetchall()
        facts["settings"] = non_default_settings(connection) | dict(named)
    except psycopg.Error:
        return facts
    return facts
