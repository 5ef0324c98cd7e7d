"""What the runner needs of a database, whether we started it or were given its URL."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import psycopg

from dbdyno.targets.endpoint import Endpoint

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
    def endpoint(self) -> Endpoint:
        """Where clients connect."""

    @property
    def server_version(self) -> str:
        """As the server names it, e.g. `18.6`."""

    @property
    def server_version_number(self) -> int:
        """As the server counts it, e.g. 180006."""

    @property
    def embedded(self) -> bool:
        """Whether we started it: only then may its settings be changed, and may it be restarted."""

    @property
    def same_host(self) -> bool:
        """Whether its processes are visible in our /proc."""

    @property
    def postmaster_pid(self) -> int | None:
        """The pid, in our /proc, of the parent of all backends; None for a server elsewhere."""

    def apply_settings(self, settings: Mapping[str, SettingValue]) -> Applied:
        """Make exactly these server settings effective (those of an earlier call are reset) and read them back."""

    def read_settings(self, names: Sequence[str]) -> dict[str, str]:
        """Settings as a new session sees them, in `current_setting`'s spelling."""

    def non_default_settings(self) -> dict[str, str]:
        """All settings that differ from the built-in default."""

    def checkpoint(self) -> None:
        """CHECKPOINT."""

    def vacuum(self, tables: Sequence[str]) -> None:
        """VACUUM (ANALYZE) these tables; all tables of ours when none is named."""

    def execute(self, sql: str) -> None:
        """Run one or more statements on the control connection."""

    def counters(self) -> dict[str, int]:
        """The server's own counters; differences over a trial go to its record. One that it lacks is absent."""

    def connect(self) -> Connection:
        """A new connection in autocommit; the caller closes it."""
