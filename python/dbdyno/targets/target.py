"""What the runner needs of a database, whether we started it or were given its URL."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import psycopg

from dbdyno.targets.endpoint import Endpoint
from dbdyno.targets.page_cache import Dropped

Connection = psycopg.Connection[tuple[Any, ...]]

# A setting as an experiment file may write it; the server parses it.
SettingValue = str | int | float | bool


@dataclasses.dataclass(frozen=True, slots=True)
class Applied:
    """What `apply_settings` did: the settings that changed by a reload, those that needed a restart, and all values
    as the server shows them now (those named, in `current_setting`'s spelling)."""

    reloaded: tuple[str, ...]
    restarted: tuple[str, ...]
    values: dict[str, str]


class Target(Protocol):
    """A server under test and our control connection to it. Clients of the measured load connect on their own."""

    @property
    def owned(self) -> bool:
        """Whether we started it: only then may its settings be changed, and may it be restarted."""

    @property
    def endpoint(self) -> Endpoint:
        """Where clients connect."""

    @property
    def schema(self) -> str | None:
        """The schema in which our tables are built, where an unqualified name leads; None before there is one."""

    @property
    def session_sql(self) -> Sequence[str]:
        """What every client must say first, so that it can do no harm."""

    @property
    def server_version(self) -> str:
        """As the server names it, e.g. `18.6`."""

    @property
    def server_version_number(self) -> int:
        """As the server counts it, e.g. 180006."""

    @property
    def postmaster_pid(self) -> int | None:
        """The pid, in our /proc, of the parent of all backends; None for a server elsewhere."""

    @property
    def data_directory(self) -> Path | None:
        """A directory of ours on the storage under test, in which files may be made; None where that is not ours."""

    @property
    def log(self) -> Path | None:
        """The server's log, where we keep it."""

    @property
    def warnings(self) -> Sequence[Mapping[str, str]]:
        """What was asked of this target and cannot be done there: `code` and `message`."""

    @property
    def may_checkpoint(self) -> bool:
        """Whether `checkpoint` is allowed."""

    @property
    def may_prewarm(self) -> bool:
        """Whether `warm_cache` can be done."""

    def apply_settings(self, settings: Mapping[str, SettingValue]) -> Applied:
        """Make exactly these server settings effective (those of an earlier call are reset) and read them back."""

    def read_settings(self, names: Sequence[str]) -> dict[str, str]:
        """Settings as a new session sees them, in `current_setting`'s spelling."""

    def non_default_settings(self) -> dict[str, str]:
        """All settings that somebody chose and that may be written down."""

    def execute(self, sql: str) -> None:
        """Run one or more statements that change something, on the control connection."""

    def copy(self, table: str, columns: Sequence[str], chunks: Iterable[bytes]) -> None:
        """COPY rows in text format into a table that `execute` made; all of them or none."""

    def vacuum(self, tables: Sequence[str]) -> None:
        """VACUUM (ANALYZE) these tables; all tables of ours when none is named."""

    def analyze(self) -> None:
        """ANALYZE all tables of ours."""

    def checkpoint(self) -> None:
        """CHECKPOINT."""

    def cold_cache(self) -> Dropped:
        """Restart with nothing of any relation in memory; only where `owned`."""

    def warm_cache(self) -> dict[str, int]:
        """All tables and indexes of ours in shared buffers; only where `may_prewarm`. See `prewarm.warm_cache`."""

    def keep_template(self, *, needed: bool) -> None:
        """Make `restore` possible from now on, if it is needed: where we may, by a copy of the database as it is."""

    def restore(self, build: Callable[[], None]) -> int:
        """Bring the data back to what it was, and return its size in bytes.

        An owned server takes the copy that `keep_template` kept, which ends all sessions in the database.
        Elsewhere everything that is ours is dropped, and `build` makes it anew.
        """

    def counters(self) -> dict[str, int]:
        """The server's own counters (`targets.counters`): their differences over a trial go to its record."""

    def connect(self) -> Connection:
        """A new connection in autocommit; the caller closes it."""
