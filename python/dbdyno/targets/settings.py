"""Server settings of a server that is ours: applied, and believed only when they have been read back.

```
ALTER SYSTEM SET / RESET -> reload -> a new session sees a later load time -> restart if one is pending -> read back
```

A new session is forked from the postmaster, so the load time that it inherits (`pg_conf_load_time`) says that the
postmaster has read the file; it signals its children in the same breath.
Values are never compared as texts ("1ms" is shown as "1"): the server says which line of which file it applied.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

import psycopg
from psycopg import sql

from dbdyno.errors import EXIT_RUN_FAILED, DynoError
from dbdyno.targets.readings import read_settings
from dbdyno.targets.statements import first_line
from dbdyno.targets.target import Applied, Connection, SettingValue

EFFECTIVE_LIMIT_S = 5.0

# Where the server listens, lies and logs is how it is kept ours.
RESERVED = frozenset(
    (
        *("config_file", "data_directory", "external_pid_file", "hba_file", "ident_file"),
        *("listen_addresses", "port", "unix_socket_directories", "unix_socket_group", "unix_socket_permissions"),
        *("log_destination", "log_directory", "logging_collector"),
    )
)

# Lists whose elements ALTER SYSTEM quotes one by one (GUC_LIST_QUOTE): 'a,b' would be the name of one library.
_QUOTED_LISTS = frozenset(
    (
        *("local_preload_libraries", "session_preload_libraries", "shared_preload_libraries"),
        *("search_path", "temp_tablespaces"),
    )
)

# Where an applied setting's value may come from. A role or a database may overrule the server's for its sessions: that
# is the arm's business. "default" is what a setting shows that needs a restart and already has the value asked for.
_EXPECTED_SOURCES = ("configuration file", "default", "global", "database", "user", "database user")


def setting_text(value: SettingValue) -> str:
    """A setting's value as the server reads it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


def checked_settings(settings: Mapping[str, SettingValue]) -> dict[str, str]:
    """Settings by lower-case name, as texts; one that dbdyno needs for itself is refused."""
    for name in settings:
        if name.lower() in RESERVED:
            raise DynoError(
                "reserved_setting", f"settings.{name}: dbdyno sets this itself on its own server; leave it out"
            )
    return {name.lower(): setting_text(value) for name, value in settings.items()}


class OwnSettings:
    """The settings that were applied to one server of ours beyond those it was started with.

    Args:
        connect: makes a new superuser session.
        restart: stops and starts the server; raises `DynoError` when it does not come up.
        start_without: starts a server that did not come up, with none of these settings.
    """

    def __init__(
        self, connect: Callable[[], Connection], restart: Callable[[], None], start_without: Callable[[], None]
    ) -> None:
        self._connect = connect
        self._restart = restart
        self._start_without = start_without
        self._applied: dict[str, str] = {}

    def apply(self, settings: Mapping[str, SettingValue]) -> Applied:
        """Make exactly `settings` effective; see `Target.apply_settings`."""
        wanted = checked_settings(settings)
        changed = sorted(name for name in wanted.keys() | self._applied if wanted.get(name) != self._applied.get(name))
        restarted: list[str] = []
        if changed:
            with self._connect() as session:
                read_settings(session, sorted(wanted))
                self._alter(session, changed, wanted)
                loaded_before = _load_time(session)
                session.execute("SELECT pg_reload_conf()")
            self._await_reload(loaded_before)
            restarted = self._pending(changed)
            if restarted:
                self._restart_or_undo(restarted, wanted)
        with self._connect() as session:
            _check_effective(session, wanted)
            values = read_settings(session, sorted(wanted))
        return Applied(tuple(name for name in changed if name not in restarted), tuple(restarted), values)

    def _alter(self, session: Connection, changed: Iterable[str], wanted: Mapping[str, str]) -> None:
        for name in changed:
            try:
                session.execute(_alter_system(name, wanted.get(name)))
            except psycopg.Error as error:
                raise DynoError(
                    "bad_setting", f"settings.{name} = {wanted.get(name)!r}: {first_line(error)}"
                ) from error
            if name in wanted:
                self._applied[name] = wanted[name]
            else:
                del self._applied[name]

    def _await_reload(self, loaded_before: object) -> None:
        limit = time.monotonic() + EFFECTIVE_LIMIT_S
        while time.monotonic() < limit:
            with self._connect() as session:
                if _load_time(session) != loaded_before:
                    return
            time.sleep(0.005)
        raise DynoError(
            "setting_not_effective",
            f"the server has not reloaded its settings within {EFFECTIVE_LIMIT_S:g} s; see its log",
            exit_code=EXIT_RUN_FAILED,
        )

    def _pending(self, names: list[str]) -> list[str]:
        with self._connect() as session:
            rows = session.execute(
                "SELECT name FROM pg_settings WHERE pending_restart AND name = ANY (%s) ORDER BY name", [names]
            )
            return [name for (name,) in rows]

    def _restart_or_undo(self, restarted: list[str], wanted: Mapping[str, str]) -> None:
        try:
            self._restart()
        except DynoError as error:
            self._applied.clear()
            self._start_without()
            shown = ", ".join(f"{name} = {wanted[name]!r}" for name in restarted if name in wanted)
            raise DynoError(
                "bad_setting", f"settings: the server does not start with {shown}: {error.message}"
            ) from error


def _alter_system(name: str, value: str | None) -> sql.Composed:
    if value is None:
        return sql.SQL("ALTER SYSTEM RESET {}").format(_setting_name(name))
    elements = [part.strip() for part in value.split(",")] if name in _QUOTED_LISTS else [value]
    literals = sql.SQL(", ").join(sql.Literal(element) for element in elements)
    return sql.SQL("ALTER SYSTEM SET {} = {}").format(_setting_name(name), literals)


def _setting_name(name: str) -> sql.Identifier:
    return sql.Identifier(*name.split("."))  # an extension's setting is written a.b


def _load_time(session: Connection) -> object:
    return session.execute("SELECT pg_conf_load_time()").fetchone()


def _check_effective(session: Connection, wanted: Mapping[str, str]) -> None:
    """Raise unless each setting was applied from our line of postgresql.auto.conf and waits for nothing."""
    rows = session.execute(
        "SELECT s.name, s.source, s.pending_restart, f.error, coalesce(f.applied, false) FROM pg_settings s"
        " LEFT JOIN pg_file_settings f ON f.name = s.name AND f.sourcefile LIKE '%%/postgresql.auto.conf'"
        " WHERE s.name = ANY (%s)",
        [list(wanted)],
    ).fetchall()
    for name, source, pending, error, applied in rows:
        if pending or error or not applied or source not in _EXPECTED_SOURCES:
            reason = error or ("it waits for a restart" if pending else f"its value comes from: {source}")
            raise DynoError(
                "setting_not_effective",
                f"settings.{name} = {wanted[name]!r}: not effective: {reason}; leave it out",
                exit_code=EXIT_RUN_FAILED,
            )
