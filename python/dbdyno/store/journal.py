"""The journal: append-only JSON Lines, a checksum a record, durable before the run goes on.

```
{"seq": 3, "kind": "trial", "body": {...},"sha256":"9f..."}\\n
'------------- what the checksum is over -'
```

A torn last line is the trace of a crash and is ignored; a damaged line before it is refused by its number.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import gc
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dbdyno.errors import EXIT_RUN_FAILED, DynoError

FORMAT = 1
FILE_NAME = "journal.jsonl"
_CHECKSUM_KEY = b',"sha256":"'


@dataclasses.dataclass(frozen=True, slots=True)
class Record:
    """One line of the journal."""

    seq: int
    kind: str
    body: dict[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Contents:
    """All whole records and how many bytes of the file they take; more bytes than that are a torn tail."""

    records: list[Record]
    whole_bytes: int


def encode(seq: int, kind: str, body: Mapping[str, Any]) -> bytes:
    """One line, newline included. NaN and infinity are refused: no JSON reader has them."""
    text = json.dumps({"seq": seq, "kind": kind, "body": body}, allow_nan=False, ensure_ascii=False)
    covered = text[:-1].encode()
    return covered + _CHECKSUM_KEY + hashlib.sha256(covered).hexdigest().encode() + b'"}\n'


def read(path: Path) -> Contents:
    """Read and verify a journal; raises `DynoError` where a line other than the last is damaged."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DynoError("run_unreadable", f"{path}: cannot be read: {error.strerror}") from None
    return parse(data, str(path))


def parse(data: bytes, name: str) -> Contents:
    """Verify the bytes of a journal; `name` is what an error calls it."""
    with _no_collector():
        return _parse(data, name)


@contextlib.contextmanager
def _no_collector() -> Iterator[None]:
    """Without the search for cycles: documents have none, and it took four fifths of the time of reading them."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _parse(data: bytes, name: str) -> Contents:
    records: list[Record] = []
    whole_bytes = 0
    for line in _lines(data):
        record = _decode(line, len(records))
        if record is None:
            if whole_bytes + len(line) < len(data):
                raise DynoError(
                    "run_damaged", f"{name}: line {len(records) + 1} is damaged; restore the directory from a copy"
                )
            break
        records.append(record)
        whole_bytes += len(line)
    return Contents(records, whole_bytes)


def _lines(data: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(data):
        end = data.find(b"\n", start) + 1 or len(data)
        yield data[start:end]
        start = end


def _decode(line: bytes, seq: int) -> Record | None:
    """The record of one line, or None if the line is not whole."""
    covered, key, rest = line.rpartition(_CHECKSUM_KEY)
    if not key or rest != hashlib.sha256(covered).hexdigest().encode() + b'"}\n':
        return None
    try:
        document = json.loads(covered + b"}")
    except (ValueError, RecursionError):
        return None
    match document:
        case {"seq": int(found), "kind": str(kind), "body": dict(body)} if found == seq:
            return Record(seq, kind, body)
    return None


class Journal:
    """The open end of a journal. One writer at a time: the file is locked for as long as it is open."""

    def __init__(self, path: Path, contents: Contents | None = None) -> None:
        """Create the journal at `path`, or go on behind `contents`, cutting a torn tail off.

        Raises:
            DynoError: the file cannot be written, or another process is writing it.
        """
        self._path = path
        self._next_seq = len(contents.records) if contents else 0
        self._whole_bytes = contents.whole_bytes if contents else 0
        flags = os.O_WRONLY | os.O_APPEND | (0 if contents else os.O_CREAT | os.O_EXCL)
        with _disk_errors(path):
            self._descriptor = os.open(path, flags, 0o644)
            self._lock()
            if contents:
                os.ftruncate(self._descriptor, contents.whole_bytes)
            else:
                _sync_directory(path.parent)
            os.fdatasync(self._descriptor)

    def _lock(self) -> None:
        import fcntl

        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DynoError("run_busy", f"{self._path}: another dbdyno is writing to it; wait until it ends") from None

    def append(self, kind: str, body: Mapping[str, Any]) -> None:
        """Write one record and make it durable. A failed flush ends the run: it is never tried again."""
        self._count_written()
        line = encode(self._next_seq, kind, body)
        with _disk_errors(self._path):
            written = os.write(self._descriptor, line)
            if written != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fdatasync(self._descriptor)
        self._count_written()

    def _count_written(self) -> None:
        """What the file has grown by is one record. A Ctrl-C may come between writing one and counting it; the record
        that says so must have the next number all the same."""
        size = os.fstat(self._descriptor).st_size
        if size > self._whole_bytes:
            self._whole_bytes = size
            self._next_seq += 1

    def close(self) -> None:
        """Give the file up."""
        os.close(self._descriptor)


class _disk_errors:
    """Turns an `OSError` into one line that names the file and what to do."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            advice = {
                errno.ENOSPC: "free some space, then dbdyno run --resume",
                errno.EROFS: "choose another --out",
                errno.EACCES: "choose another --out",
                errno.EEXIST: "choose a new --out, or --resume this one",
            }.get(error.errno or 0, "what was measured before is kept")
            raise DynoError(
                "run_unwritable",
                f"{self._path}: cannot be written: {error.strerror}; {advice}",
                exit_code=EXIT_RUN_FAILED,
            ) from None


def _sync_directory(directory: Path) -> None:
    """Makes a new file's name durable: without it a power cut can lose the name (5 of 12 in our tests)."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
