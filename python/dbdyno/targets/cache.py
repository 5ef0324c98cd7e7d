"""Things that are made once and kept: each is complete or absent, whoever is killed while making it."""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dbdyno.errors import DynoError

_DRAFT_PREFIX = ".draft-"
_LOCK = ".dbdyno-lock"


@contextmanager
def exclusive(directory: Path) -> Iterator[None]:
    """Hold the one lock of `directory`: what is made or removed in it is so by one process at a time."""
    descriptor = _locked(directory)
    try:
        yield
    finally:
        os.close(descriptor)


def lock_exists(directory: Path) -> bool:
    """Whether somebody holds or held the lock of `directory`."""
    return (directory / _LOCK).exists()


def remove_lock(directory: Path) -> None:
    """Leave nothing in a directory of the user's: who waits for the lock meanwhile makes a new one."""
    with exclusive(directory):
        (directory / _LOCK).unlink()


def _locked(directory: Path) -> int:
    while True:
        descriptor = os.open(directory / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)  # it was removed while we waited: no other process would meet us there


def cached(directory: Path, build: Callable[[Path], None]) -> Path:
    """`directory`, made by `build` in an empty draft beside it and renamed when it is complete."""
    try:
        directory.parent.mkdir(mode=0o755, exist_ok=True)
        with exclusive(directory.parent):
            if not directory.is_dir():
                _build(directory, build)
    except OSError as error:
        raise DynoError(
            "cache_unusable", f"cannot make {directory}: {error.strerror}; set DBDYNO_CACHE_DIR to another directory"
        ) from error
    return directory


def _build(directory: Path, build: Callable[[Path], None]) -> None:
    for abandoned in directory.parent.glob(f"{_DRAFT_PREFIX}*"):  # its maker was killed: the lock is ours
        shutil.rmtree(abandoned)
    draft = directory.parent / f"{_DRAFT_PREFIX}{secrets.token_hex(4)}"
    draft.mkdir(mode=0o700)
    try:
        build(draft)
        draft.rename(directory)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
