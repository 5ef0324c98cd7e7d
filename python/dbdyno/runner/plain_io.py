"""The work of an arm as plain I/O: one process that asks for one request after another, as dd and hdparm do.

What is read are the very files of the relation that the other arms scan, opened for reading only; what is written goes
into a file of ours beside the server's, as long as the relation, without a name and gone with the trial.

The storage bench of `dbdyno calibrate` is not used: its cells have a window, while this is fixed work; it opens no file
with O_SYNC; and a profile needs the run queue of the thread that does the I/O, which it does not keep.
Each request is one call from here, which costs 1 us beside the 100 us and more that a megabyte takes to be copied.
"""

from __future__ import annotations

import mmap
import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from dbdyno.calibration.own_file import OwnFile
from dbdyno.design.file_work import FileWork
from dbdyno.errors import EXIT_RUN_FAILED, DynoError
from dbdyno.probes.own_thread import OwnThread
from dbdyno.runner.own_outcome import course, own_profile
from dbdyno.targets.page_cache import resident_bytes
from dbdyno.targets.target import Target

Document = dict[str, Any]
_FLAGS = {"buffered": 0, "direct": os.O_DIRECT, "synchronous": os.O_SYNC}
# Descriptor, place, length.
Request = tuple[int, int, int]


class PlainIo:
    """Open files and what is to be done with them: `units` passes, or so many single requests."""

    def __init__(self, work: FileWork, files: list[Path], requests: list[list[Request]]) -> None:
        self._work = work
        self._files = files
        self._units = requests
        self._resident_bytes_before = resident_bytes(files)
        self._read_bytes: int | None = None

    def run(self) -> Document:
        """Does it; the outcome of the trial, as the engine has it (docs/architecture.md)."""
        buffer = mmap.mmap(-1, self._work.request_bytes)  # at a page's beginning, as O_DIRECT asks
        transfer: Callable[[int, list[memoryview], int], int] = os.preadv
        if self._work.access == "write":
            buffer[:] = os.urandom(len(buffer))
            transfer = os.pwritev
        started_at_ns = time.time_ns()
        before = OwnThread.now()
        began_ns = time.monotonic_ns()
        with memoryview(buffer) as view:
            times_ns = [_unit(transfer, view, requests) for requests in self._units]
        elapsed_ns = time.monotonic_ns() - began_ns
        used = OwnThread.now().since(before)
        self._read_bytes = used.read_bytes
        return {
            **course(times_ns, started_at_ns, elapsed_ns),
            "profile": own_profile(sum(times_ns), used.cpu_ns, used.run_queue_ns, f"IO:{transfer.__name__}"),
        }

    def record(self) -> Document:
        """What the trial's record has of the files: how much was moved, and how much the page cache holds of them."""
        return {
            "bytes": sum(length for requests in self._units for _, _, length in requests),
            "read_bytes": self._read_bytes,
            "file_bytes": sum(path.stat().st_size for path in self._files),
            "resident_bytes_before": self._resident_bytes_before,
            "resident_bytes_after": resident_bytes(self._files),
        }


@contextmanager
def opened(target: Target, work: FileWork, units: int, seed: int) -> Iterator[PlainIo]:
    """The files of an arm's work on a server of ours, open as the arm says."""
    with ExitStack() as stack:
        relation = relation_files(target, work.relation)
        sizes = [path.stat().st_size for path in relation]
        files = relation
        if work.access == "write":
            directory = target.data_directory
            assert directory is not None  # or the arm had been left out
            files, sizes = [stack.enter_context(OwnFile(directory)).path], [sum(sizes)]
        descriptors = []
        for path in files:
            descriptors.append(_open(path, work))
            stack.callback(os.close, descriptors[-1])
        whole = list(_in_order(descriptors, sizes, work.request_bytes))
        if work.order == "random":
            drawn = random.Random(seed).sample(whole, k=_at_most(units, whole, work))
            yield PlainIo(work, files, [[request] for request in drawn])
        else:
            yield PlainIo(work, files, [whole] * units)


def relation_files(target: Target, relation: str) -> list[Path]:
    """The files of a relation's main fork, a gigabyte each but the last."""
    with target.connect() as connection:
        row = connection.execute(
            "SELECT current_setting('data_directory'), pg_relation_filepath(to_regclass(%s))", [relation]
        ).fetchone()
    if row is None or row[1] is None:
        raise DynoError(
            "no_relation", f"file.relation = {relation!r}: there is no such table", exit_code=EXIT_RUN_FAILED
        )
    first = Path(row[0], row[1])
    later = (first.with_name(f"{first.name}.{number}") for number in range(1, 1 << 15))
    return [first, *_while_there(later)]


def _while_there(paths: Iterator[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.exists():
            return
        yield path


def _open(path: Path, work: FileWork) -> int:
    assert work.open is not None
    flags = (os.O_RDONLY if work.access == "read" else os.O_WRONLY) | os.O_CLOEXEC | _FLAGS[work.open]
    try:
        return os.open(path, flags)
    except OSError as error:
        raise DynoError(
            "file_not_opened", f"file.open = {work.open!r}: {path}: {error.strerror}", exit_code=EXIT_RUN_FAILED
        ) from None


def _in_order(descriptors: list[int], sizes: list[int], request_bytes: int) -> Iterator[Request]:
    for descriptor, size in zip(descriptors, sizes, strict=True):
        for place in range(0, size, request_bytes):
            yield descriptor, place, min(request_bytes, size - place)


def _at_most(units: int, whole: list[Request], work: FileWork) -> int:
    """No place is read twice: the second time it might be in a cache."""
    if units > len(whole):
        raise DynoError(
            "relation_too_small",
            f"file.relation = {work.relation!r}: has {len(whole)} places of {work.request_bytes} bytes, and {units} are"
            " to be read once each; use fewer units or a larger scale",
            exit_code=EXIT_RUN_FAILED,
        )
    return units


def _unit(transfer: Callable[[int, list[memoryview], int], int], view: memoryview, requests: list[Request]) -> int:
    """Response time of one unit; a request that is cut short is a file that has changed, or a disk that is full."""
    began_ns = time.monotonic_ns()
    for descriptor, place, length in requests:
        try:
            moved = transfer(descriptor, [view[:length]], place)
        except OSError as error:
            raise DynoError("io", f"{transfer.__name__}: {error.strerror}", exit_code=EXIT_RUN_FAILED) from None
        if moved != length:
            what = f"{transfer.__name__}: {moved} of {length} bytes at {place}"
            raise DynoError("io", what, exit_code=EXIT_RUN_FAILED)
    return time.monotonic_ns() - began_ns
