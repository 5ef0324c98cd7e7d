"""What the operating system keeps of files in memory: looked at, and dropped.

Pages are dropped with posix_fadvise(POSIX_FADV_DONTNEED), which anybody may ask for who may read the file.
It passes over pages that are dirty (hence the fsync before it), mapped, or just being written.
What is left is counted with mincore(2), not believed.
Only where something is left, and only as root, the whole machine's page cache is dropped (proc_sys_vm(5), drop_caches):
every other process pays for that.
"""

from __future__ import annotations

import ctypes
import dataclasses
import mmap
import os
from collections.abc import Iterable
from pathlib import Path

from dbdyno.errors import EXIT_RUN_FAILED, DynoError

# Pages that the kernel has just read or written wait in batches of each CPU and are let go the second time.
_ROUNDS = 3

_DROP_CACHES = Path("/proc/sys/vm/drop_caches")
_PAGE_CACHE_ONLY = "1\n"

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mmap.restype = ctypes.c_void_p
_LIBC.mmap.argtypes = (*(ctypes.c_void_p, ctypes.c_size_t), *[ctypes.c_int] * 3, ctypes.c_long)
_LIBC.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
_LIBC.mincore.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
_MAP_FAILED = ctypes.c_void_p(-1).value


@dataclasses.dataclass(frozen=True, slots=True)
class Dropped:
    """How much went, how much stayed in spite of all, and by which means."""

    dropped_bytes: int
    resident_bytes: int
    how: tuple[str, ...]


def drop_from_page_cache(files: Iterable[Path], *, only_these: bool = False) -> Dropped:
    """Drop every page of `files`, which nobody must be writing to; with `only_these`, no page of any other file."""
    names = list(files)
    before = resident_bytes(names)
    for _ in range(_ROUNDS):
        _advise_away(names)
        left = resident_bytes(names)
        if not left:
            return Dropped(before, 0, ("posix_fadvise",))
    if only_these or not _drop_all_caches():
        return Dropped(max(0, before - left), left, ("posix_fadvise",))
    left = resident_bytes(names)
    return Dropped(max(0, before - left), left, ("posix_fadvise", "drop_caches"))


def files_below(directories: Iterable[Path]) -> list[Path]:
    """The regular files below `directories`, through symbolic links to directories (tablespaces), in order."""
    return sorted(
        path
        for directory in directories
        for where, _, names in os.walk(directory, followlinks=True)
        for path in (Path(where, name) for name in names)
        if path.is_file()
    )


def resident_bytes(files: Iterable[Path]) -> int:
    """How much of `files` is in the page cache now."""
    return sum(_resident_pages(path) for path in files) * mmap.PAGESIZE


def _advise_away(files: Iterable[Path]) -> None:
    for path in files:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)


def _drop_all_caches() -> bool:
    """Whether it was possible: only root may, and not in every container."""
    try:
        _DROP_CACHES.write_text(_PAGE_CACHE_ONLY)
    except OSError:
        return False
    return True


def _resident_pages(path: Path) -> int:
    """By mincore(2): the lowest bit of a page's byte. For those who neither own the file nor may write to it (since
    Linux 5.2) all pages seem resident; the server's files are ours, or we are root."""
    size = path.stat().st_size
    if not size:
        return 0
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        address = _LIBC.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, 0)
    finally:
        os.close(descriptor)
    if address == _MAP_FAILED:
        raise _unreadable(path)
    pages = ctypes.create_string_buffer(-(-size // mmap.PAGESIZE))
    try:
        if _LIBC.mincore(address, size, pages) != 0:
            raise _unreadable(path)
    finally:
        _LIBC.munmap(address, size)
    return sum(byte & 1 for byte in pages.raw)


def _unreadable(path: Path) -> DynoError:
    cause = os.strerror(ctypes.get_errno())
    return DynoError("page_cache_unreadable", f"page cache of {path}: {cause}", exit_code=EXIT_RUN_FAILED)
