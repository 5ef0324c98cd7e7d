"""May we measure here? What keeps us is told before a byte is written."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

from dbdyno.calibration.own_file import OwnFile
from dbdyno.errors import DynoError
from dbdyno.probes.direct_io import takes_direct
from dbdyno.probes.storage import Storage, block_device_of, find_storage

# A file system that is nearly full places and flushes new data unlike one that is not, and its owner needs the rest.
FULLEST_SHARE = 0.9
# The file itself, and twice as much to spare.
SPACE_TIMES = 3


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """A directory that may be measured."""

    directory: Path
    storage: Storage
    block_device: Path | None
    direct: bool
    warnings: tuple[dict[str, str], ...]


def inspect(directory: Path, file_bytes: int) -> Place:
    """The directory, or why not; `DynoError` with exit code 2."""
    _check_directory(directory)
    storage = find_storage(directory)
    if storage.in_memory:
        raise DynoError(
            "no_storage", f"{directory}: is on {storage.file_system}, which is memory; name a directory on a disk"
        )
    _check_space(directory, file_bytes)
    direct = _takes_direct(directory)
    warnings = tuple(file_warnings(directory, storage, direct))
    return Place(directory, storage, block_device_of(directory), direct, warnings)


def _check_directory(directory: Path) -> None:
    if not directory.is_dir():
        what = "is no directory" if directory.exists() else "is not there"
        raise DynoError("no_directory", f"{directory}: {what}; name a directory on the storage in question")
    if os.statvfs(directory).f_flag & os.ST_RDONLY:
        raise DynoError(
            "read_only", f"{directory}: is mounted read-only; --read-only FILE measures a file that is there"
        )
    if not os.access(directory, os.W_OK | os.X_OK):
        raise DynoError("no_rights", f"{directory}: we may not write there; name another, or run as its owner")


def _check_space(directory: Path, file_bytes: int) -> None:
    space = os.statvfs(directory)
    free_bytes = space.f_bavail * space.f_frsize
    if not space.f_blocks:
        raise DynoError("no_storage", f"{directory}: its file system keeps no files; name a directory on a disk")
    used_share = 1 - space.f_bavail / max(1, space.f_blocks - space.f_bfree + space.f_bavail)
    if used_share > FULLEST_SHARE:
        raise DynoError(
            "too_full",
            f"{directory}: its file system is {used_share:.0%} full; above {FULLEST_SHARE:.0%} we do not write",
        )
    if free_bytes < SPACE_TIMES * file_bytes:
        raise DynoError(
            "too_little_space",
            f"{directory}: {free_bytes / 2**30:.1f} GiB free, {SPACE_TIMES * file_bytes / 2**30:.1f} are wanted "
            f"({SPACE_TIMES} times the file); give a smaller one with --file-size",
        )


def _takes_direct(directory: Path) -> bool:
    """Tried on a file of our own, since no list of file systems is true for long."""
    with OwnFile(directory) as own:
        return takes_direct(own.descriptor)


def file_warnings(directory: Path, storage: Storage, direct: bool) -> list[dict[str, str]]:
    """What limits figures from files there, or from that very file."""
    found = []
    if storage.layered:
        found.append(_warning("overlay", f"{directory} is on {storage.file_system}: a container's layers over a disk"))
    if storage.on_network:
        found.append(_warning("network_file_system", f"{directory} is on {storage.file_system}: times are a network's"))
    if not direct:
        found.append(
            _warning("no_direct_io", f"{directory}: takes no direct I/O, so reads may come from this host's page cache")
        )
    if storage.without_barriers:
        found.append(
            _warning("no_barrier", f"{directory}: is mounted without barriers: a flush may not reach the disk")
        )
    return found


def _warning(code: str, message: str) -> dict[str, str]:
    return {"code": code, "message": message}
