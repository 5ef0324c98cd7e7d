"""The server that the storage is measured through: one of our own below the directory, or the one that a URL names."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dbdyno.calibration.budget import PAGE_BYTES
from dbdyno.calibration.database.budget import memory_bytes
from dbdyno.calibration.database.plan import BUFFERED, DIRECT, Arm
from dbdyno.calibration.place import Place
from dbdyno.errors import DynoError
from dbdyno.probes.server_directory import server_directory
from dbdyno.probes.storage import block_device_of
from dbdyno.targets.cache import exclusive, lock_exists, remove_lock
from dbdyno.targets.defaults import resolve
from dbdyno.targets.embedded import EmbeddedServer
from dbdyno.targets.leftovers import remove_leftovers
from dbdyno.targets.open import TargetRequest, open_target
from dbdyno.targets.paths import INSTANCE_PREFIX
from dbdyno.targets.target import Target

EMBEDDED = "embedded"
# debug_io_direct came with 16.
DIRECT_SINCE = 160000
# Nothing may work beside what is measured: no checkpoint, no autovacuum.
SETTINGS = {"autovacuum": "off", "checkpoint_timeout": "1h", "max_wal_size": "1GB"}
# Without these a figure of a server says little.
NAMED_SETTINGS = (
    *("shared_buffers", "effective_io_concurrency", "fsync", "synchronous_commit", "wal_sync_method"),
    *("commit_delay", "full_page_writes", "data_checksums", "max_connections"),
)
# Some PostgreSQLs do not have them.
LATER_SETTINGS = {"io_method": 180000, "io_workers": 180000, "io_combine_limit": 170000, "debug_io_direct": 160000}
# Our own connections, beside those of the sessions.
CONTROL_CONNECTIONS = 3


@dataclasses.dataclass(frozen=True, slots=True)
class Wanted:
    """What `--target` asks for; a URL may hold a password, so it is in no repr."""

    target: str = dataclasses.field(repr=False)
    allow_write: bool = False

    @property
    def embedded(self) -> bool:
        """Whether the server is one of our own."""
        return self.target == EMBEDDED

    @property
    def shown(self) -> str:
        """The target without its password."""
        return EMBEDDED if self.embedded else resolve(self.target, os.environ).display()


def check(wanted: Wanted, place: Place, table_bytes: int) -> None:
    """Raise now what would otherwise be known when the device has been measured."""
    if wanted.embedded:
        _own(place, table_bytes)
        return
    if not wanted.allow_write:
        raise DynoError(
            "write_not_allowed",
            f"--target {wanted.shown}: what is read is a table of our own, in a schema of its own there; "
            "give --allow-write",
        )
    with opened(wanted, place, table_bytes) as target, target.connect() as session:
        row = session.execute("SELECT current_setting('block_size')::int").fetchone()
    if row != (PAGE_BYTES,):
        found = row[0] if row else "unknown"
        raise DynoError("page_size", f"--target {wanted.shown}: has pages of {found} bytes; {PAGE_BYTES} are measured")


@contextmanager
def opened(wanted: Wanted, place: Place, table_bytes: int) -> Iterator[Target]:
    """The server, until we are done with it; of one of our own nothing is left."""
    if not wanted.embedded:
        with open_target(TargetRequest(wanted.target, allow_write=wanted.allow_write), {}) as target:
            yield target
        return
    try:
        with _own(place, table_bytes) as own:
            yield own
    finally:
        remove_what_was_left(place.directory)


def _own(place: Place, table_bytes: int) -> EmbeddedServer:
    """One of our own that is not yet started."""
    settings = {**SETTINGS, "shared_buffers": f"{memory_bytes(table_bytes) // 1024}kB"}
    try:
        return EmbeddedServer(settings=settings, data_dir=place.directory)
    except DynoError as error:
        if error.code != "bad_data_dir":
            raise
        raise DynoError(error.code, error.message.replace("--data-dir", "--target embedded: PATH", 1)) from None


def remove_what_was_left(directory: Path) -> None:
    """Directories of servers whose process was killed, and the lock that is held while they are made."""
    if any(directory.glob(f"{INSTANCE_PREFIX}*")) or lock_exists(directory):
        with exclusive(directory):
            remove_leftovers(directory)
        remove_lock(directory)


def write_all_pages(target: Target) -> None:
    """A checkpoint passes over the pages of a table that is not logged: only a shutdown writes them."""
    if isinstance(target, EmbeddedServer):
        target.restart()


def arms_of(target: Target, place: Place) -> tuple[list[Arm], list[dict[str, str]]]:
    """The ways in which this server can read, and those that it cannot, with the reason."""
    if not target.owned:
        later = "debug_io_direct" in target.non_default_settings()
        [own, other] = [DIRECT, BUFFERED] if later else [BUFFERED, DIRECT]
        reason = "the server is not ours, so its settings stay as they are"
        return [Arm(own.name, {})], [{"arm": other.name, "reason": reason}]
    if target.server_version_number < DIRECT_SINCE:
        reason = f"PostgreSQL {target.server_version} has no debug_io_direct (16 has)"
    elif not place.direct:
        reason = "this file system takes no direct I/O"
    else:
        return [BUFFERED, DIRECT], []
    return [BUFFERED], [{"arm": DIRECT.name, "reason": reason}]


def settings_of(target: Target) -> dict[str, str]:
    """The settings that the figures depend on, as this server has them."""
    later = [name for name, since in LATER_SETTINGS.items() if target.server_version_number >= since]
    return target.read_settings([*NAMED_SETTINGS, *later])


def warnings_of(target: Target, place: Place, table_bytes: int) -> list[dict[str, str]]:
    """What a reader must know about a server that is not ours."""
    if target.owned:
        return []
    found = []
    directory = server_directory(target)
    if directory is None:
        found.append(
            _warning(
                "server_elsewhere",
                f"where the server's data lies is not to be seen: {place.directory} may be other storage, and how many "
                "reads came from its page cache is not known",
            )
        )
    elif block_device_of(directory) != place.block_device:
        found.append(
            _warning(
                "other_device",
                f"the server's data lies in {directory}, on another device than {place.directory}: the figures are of "
                "two devices",
            )
        )
    buffers = _shared_buffers_bytes(target)
    if buffers * 2 > table_bytes:
        found.append(
            _warning(
                "large_buffers",
                f"the server's shared_buffers ({buffers >> 20} MiB) hold much of the table ({table_bytes >> 20} MiB), "
                "and what is found there is not read; give a larger --file-size",
            )
        )
    return found


def _warning(code: str, message: str) -> dict[str, str]:
    return {"code": code, "message": message}


def most_sessions(target: Target) -> int:
    """How many sessions this server has room for now."""
    with target.connect() as session:
        row: tuple[Any, ...] | None = session.execute(
            "SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int"
            " - count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
        ).fetchone()
    return max(1, int(row[0]) - CONTROL_CONNECTIONS) if row else 1


def _shared_buffers_bytes(target: Target) -> int:
    with target.connect() as session:
        row = session.execute("SELECT pg_size_bytes(current_setting('shared_buffers'))").fetchone()
    return int(row[0]) if row else 0
