"""Opens a file with an engine that can do all that is planned on it.

io_uring locks its buffers in memory, of which an ordinary user may have 8 MiB, on older systems 64 KiB
(RLIMIT_MEMLOCK): enough for one read at a time, and not for the largest cell. So that one is tried before anything is
measured.
"""

from __future__ import annotations

import dataclasses
import errno
import resource
from collections.abc import Iterable
from pathlib import Path

from dbdyno.calibration.cells import Cell, Planned
from dbdyno.calibration.storage import Storage
from dbdyno.errors import DynoError

MIB = 1 << 20


def opened(
    path: Path,
    block_device: Path | None,
    *,
    direct: bool,
    write: bool,
    engine_name: str,
    planned: Iterable[Planned],
) -> Storage:
    """The file with the engine that was asked for; `auto` takes threads where io_uring cannot have its buffers.

    Raises `DynoError("no_io_uring")` where io_uring was asked for.
    """
    storage = Storage.of_file(path, block_device, direct=direct, write=write, engine_name=engine_name)
    cells = [one.work for one in planned if isinstance(one.work, Cell)]
    if storage.engine_name != "io_uring" or not cells:
        return storage
    largest = max(cells, key=lambda cell: cell.depth * cell.io_bytes)
    _raise_limit()
    if _can_run(storage, largest):
        return storage
    if engine_name != "auto":
        raise DynoError("no_io_uring", f"--engine {engine_name}: {_missing(largest)}; raise it, or use threads")
    return Storage.of_file(path, block_device, direct=direct, write=write, engine_name="threads")


def engine_warnings(asked: str, storage: Storage) -> list[dict[str, str]]:
    """That `auto` could not take the better one."""
    if asked != "auto" or storage.engine_name != "threads":
        return []
    return [
        {
            "code": "no_io_uring",
            "message": "io_uring is not allowed here, or too little memory may be locked (ulimit -l): threads did the "
            "I/O, which costs more CPU at great depths",
        }
    ]


def _can_run(storage: Storage, cell: Cell) -> bool:
    """One read with all its buffers, at the beginning: this file may be smaller than the one that it is planned for."""
    once = dataclasses.replace(
        cell,
        most_ios=1,
        per_s=None,
        settle_ns=0,
        write_share=0.0,
        flush_every_ns=0,
        first_byte=0,
        span_bytes=cell.io_bytes,
    )
    try:
        storage.bench.run(once.document())
    except DynoError as error:
        if f"os error {errno.ENOMEM}" in error.message:
            return False
        raise
    return True


def _raise_limit() -> None:
    """To what we may have without asking anybody."""
    _, most = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (most, most))


def _missing(cell: Cell) -> str:
    most, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    return (
        f"its buffers take {cell.depth * cell.io_bytes / MIB:g} MiB of locked memory, ulimit -l allows {most / MIB:g}"
    )
