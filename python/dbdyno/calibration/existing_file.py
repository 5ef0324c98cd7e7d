"""A file that is there and stays as it is: opened for reading only, and only after it is known to be a regular file.

It is looked at without being opened (O_PATH), so no driver ever sees an open of its device, not even one for reading;
and it is opened through what was looked at, so nothing can be put into its place in between.
"""

from __future__ import annotations

import dataclasses
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from dbdyno.calibration.budget import MIB
from dbdyno.calibration.place import Place, file_warnings
from dbdyno.errors import DynoError
from dbdyno.probes.direct_io import takes_direct
from dbdyno.probes.storage import block_device_of, find_storage

# A third of it holds some 700 pages then: fewer would be read over and over, from some cache.
LEAST_BYTES = 16 * MIB
_KINDS = (
    (stat.S_ISDIR, "is a directory; name the files in it"),
    (stat.S_ISBLK, "is a block device; no device is ever opened, name a file on it"),
    (stat.S_ISCHR, "is a character device; name a regular file"),
    (stat.S_ISFIFO, "is a pipe; name a regular file"),
    (stat.S_ISSOCK, "is a socket; name a regular file"),
)


@dataclasses.dataclass(frozen=True, slots=True)
class ExistingFile:
    """One of the files. `bytes_` is its size in whole MiB, `path` opens it from within this process."""

    name: Path
    path: Path
    bytes_: int
    place: Place


@contextmanager
def opened(names: Sequence[Path]) -> Iterator[list[ExistingFile]]:
    """All of them, or a `DynoError` with exit code 2 about the first that cannot be measured."""
    with ExitStack() as stack:
        files: list[ExistingFile] = []
        seen: dict[tuple[int, int], Path] = {}
        for name in names:
            descriptor = _descriptor(name)
            stack.callback(os.close, descriptor)
            status = os.fstat(descriptor)
            first = seen.setdefault((status.st_dev, status.st_ino), name)
            if len(seen) == len(files):
                raise _refused("same_file", name, f"is the same file as {first}; name each once")
            files.append(_file(name, descriptor, status.st_size))
        yield files


def _descriptor(name: Path) -> int:
    try:
        looked_at = os.open(name, os.O_PATH | os.O_CLOEXEC)
    except OSError as error:
        raise _refused("no_file", name, f"cannot be looked at: {error.strerror}") from None
    try:
        mode = os.fstat(looked_at).st_mode
        for is_kind, words in _KINDS:
            if is_kind(mode):
                raise _refused("no_regular_file", name, words)
        return os.open(f"/proc/self/fd/{looked_at}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise _refused("unreadable", name, f"cannot be read: {error.strerror}; run as its owner") from None
    finally:
        os.close(looked_at)


def _file(name: Path, descriptor: int, size: int) -> ExistingFile:
    if size < LEAST_BYTES:
        raise _refused(
            "file_too_small", name, f"has {size / MIB:.1f} MiB, {LEAST_BYTES // MIB} are needed; name a larger one"
        )
    storage = find_storage(name)
    if storage.in_memory:
        raise _refused("no_storage", name, f"is on {storage.file_system}, which is memory; name a file on a disk")
    direct = takes_direct(descriptor)
    place = Place(name.parent, storage, block_device_of(name), direct, tuple(file_warnings(name, storage, direct)))
    return ExistingFile(name, Path(f"/proc/self/fd/{descriptor}"), size // MIB * MIB, place)


def _refused(code: str, name: Path, what: str) -> DynoError:
    return DynoError(code, f"--read-only {name}: {what}")
