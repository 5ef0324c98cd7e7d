"""A file to measure on: made exclusively, without a name, so that it is gone with the process that made it.

A file without a name (O_TMPFILE) needs nobody to remove it, not even after kill -9.
Where the file system has none, the file is made under a new name and unlinked at once; what a kill between these two
calls leaves is empty, and the next start removes it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
from pathlib import Path
from types import TracebackType

PREFIX = ".dbdyno-calibration-"


class OwnFile:
    """An empty file in a directory. Use as a context manager.

    `path` opens it again, with other flags, as long as it is held.
    """

    def __init__(self, directory: Path) -> None:
        remove_leftovers(directory)
        self._descriptor = _made(directory)

    @property
    def descriptor(self) -> int:
        """Of the file, while it is held."""
        return self._descriptor

    @property
    def path(self) -> Path:
        """Where it can be opened from within this process."""
        return Path(f"/proc/self/fd/{self._descriptor}")

    def allocate(self, bytes_: int) -> None:
        """Reserve the space, so that it cannot run out in the middle; skipped where the file system cannot."""
        try:
            os.posix_fallocate(self._descriptor, 0, bytes_)
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):
                raise

    def __enter__(self) -> OwnFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)


def remove_leftovers(directory: Path) -> list[Path]:
    """Remove what killed processes left in a directory: empty files of our name that nobody holds."""
    removed = []
    for path in sorted(directory.glob(f"{PREFIX}*")):
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue  # not ours to judge, e.g. another user's
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(descriptor).st_size == 0:
                path.unlink()
                removed.append(path)
        except OSError:
            continue
        finally:
            os.close(descriptor)
    return removed


def _made(directory: Path) -> int:
    try:
        return os.open(directory, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError as error:
        # Unknown to the file system, or to a kernel that then tries to open the directory itself for writing.
        if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT):
            raise
    path = directory / f"{PREFIX}{secrets.token_hex(8)}"
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        pass  # no locks there: then nobody removes it but us
    finally:
        path.unlink()
    return descriptor
