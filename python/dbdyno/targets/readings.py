"""What is asked of any PostgreSQL over a control connection about its settings."""

from __future__ import annotations

from collections.abc import Sequence

from dbdyno.errors import DynoError
from dbdyno.targets.target import Connection

# Where a setting comes from when nobody chose it: the build, the command's own paths, the session itself.
_UNCHOSEN_SOURCES = ("default", "override", "client", "session")

# What may hold a password or name a host: that it was chosen is recorded, its value is not.
_PRIVATE = (
    *("primary_conninfo", "archive_command", "restore_command", "archive_cleanup_command", "recovery_end_command"),
    *("ssl_passphrase_command", "listen_addresses", "cluster_name", "external_pid_file", "unix_socket_directories"),
)
NOT_RECORDED = "(not recorded)"


def read_settings(connection: Connection, names: Sequence[str]) -> dict[str, str]:
    """`current_setting` of each name; an unknown one is a `DynoError`."""
    rows = connection.execute("SELECT n, current_setting(n, true) FROM unnest(%s::text[]) AS n", [list(names)])
    values: dict[str, str | None] = dict(rows.fetchall())
    found = {name: value for name, value in values.items() if value is not None}
    for name in names:
        if name not in found:
            raise DynoError("unknown_setting", f"settings.{name}: this server has no such setting; check its spelling")
    return {name: found[name] for name in names}


def non_default_settings(connection: Connection) -> dict[str, str]:
    """All settings that somebody chose, in `current_setting`'s spelling, by name; private ones without their values."""
    rows = connection.execute(
        "SELECT name, current_setting(name) FROM pg_settings"
        " WHERE source <> ALL (%s::text[]) AND setting IS DISTINCT FROM boot_val AND name <> 'application_name'"
        " ORDER BY name",
        [list(_UNCHOSEN_SOURCES)],
    )
    # An extension's setting (a.b) may be a key to something; only its own documentation knows.
    return {name: NOT_RECORDED if name in _PRIVATE or "." in name else value for name, value in rows}
