"""Reads an archive of a run (`store.archive` has its layout), all of it checked, and makes a run directory of it.

An archive comes from somebody else's machine, so a reader takes only what the manifest announces: regular files, in
its order, with its sizes and checksums. The headers are read one by one instead of with `tarfile.open`, which would
follow extended headers of any length into memory before we could look at them.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from dbdyno.errors import DynoError
from dbdyno.store import journal, manifest, out_directory, run_directory
from dbdyno.store.manifest import Entry, Manifest
from dbdyno.store.run_directory import StoredRun

# Between half and twice as much makes no difference to speed.
_CHUNK_BYTES = 2**20
# A journal is read as a whole; the longest that we have seen has 30 MB.
LARGEST_JOURNAL_IN_MEMORY_BYTES = 2**30


def unpack(file: Path, directory: Path | None) -> tuple[Path, Manifest, StoredRun]:
    """Make a run directory of an archive; without `directory` it is named after the run, in this directory.

    It is unpacked beside its place and moved there when every checksum was right: a failure leaves nothing behind.

    Raises:
        DynoError: the archive is damaged or not to be trusted, or the directory is not empty or cannot be written.
    """
    with _opened(file) as stream:
        listed = _manifest(stream)
        target = directory or Path(listed.run_id)
        with _staged(target, listed) as staged:
            for entry in listed.files:
                _write(staged / entry.path, _content(stream, listed, entry))
            _end(stream)
            stored = _verified(file, (staged / journal.FILE_NAME).read_bytes(), listed, target)
    return target, listed, stored


def read(file: Path) -> StoredRun:
    """The run in an archive, every file of it verified, none written."""
    return read_listed(file)[0]


def read_listed(file: Path) -> tuple[StoredRun, Manifest]:
    """The same with its manifest: each file's size and checksum, which were verified."""
    kept = b""
    with _opened(file) as stream:
        listed = _manifest(stream)
        for entry in listed.files:
            if entry.path == journal.FILE_NAME:
                if entry.bytes > LARGEST_JOURNAL_IN_MEMORY_BYTES:
                    raise DynoError("archive_large", f"{file}: its journal has {entry.bytes} bytes; dbdyno unpack it")
                kept = b"".join(_content(stream, listed, entry))
            else:
                for _ in _content(stream, listed, entry):
                    pass
        _end(stream)
    return _verified(file, kept, listed, file), listed


def _verified(file: Path, data: bytes, listed: Manifest, place: Path) -> StoredRun:
    """The journal of an archive must be whole, and of the run that the manifest names."""
    name = f"{file}: {journal.FILE_NAME}"
    stored = run_directory.stored_run(place, journal.parse(data, name), name)
    if (run_id := stored.run.get("run_id")) != listed.run_id:
        raise DynoError("archive_refused", f"{name}: is of run {run_id!r}, not of {listed.run_id!r}")
    copy = f"{run_directory.COPIES}/{stored.run.get('experiment_file')}"
    if copy not in [entry.path for entry in listed.files]:
        raise DynoError("archive_refused", f"{file}: {copy!r} is missing; the run could not be run again")
    return stored


class _Stream:
    """The bytes of an open archive; every way in which it can be broken is one error that names it."""

    def __init__(self, file: Path, opened: BinaryIO) -> None:
        self.file = file
        self._unpacked = gzip.GzipFile(fileobj=opened, mode="rb")

    def exactly(self, count: int) -> bytes:
        """The next `count` bytes."""
        data = self.at_most(count)
        if len(data) < count:
            raise self.damaged("ends too early")
        return data

    def at_most(self, count: int) -> bytes:
        """The next `count` bytes, or all that are left. At the end gzip's own checksum is compared."""
        try:
            return self._unpacked.read(count)
        except EOFError:
            raise self.damaged("ends too early") from None
        except (gzip.BadGzipFile, zlib.error):
            raise self.damaged("is damaged, or no archive of dbdyno pack") from None
        except OSError as error:
            raise DynoError("archive_unreadable", f"{self.file}: cannot be read: {error.strerror}") from None

    def damaged(self, what: str) -> DynoError:
        """The error for an archive that is not as it was packed."""
        return DynoError("archive_damaged", f"{self.file}: {what}; ask for the archive again")


@contextlib.contextmanager
def _opened(file: Path) -> Iterator[_Stream]:
    try:
        opened = file.open("rb")
    except OSError as error:
        raise DynoError("archive_unreadable", f"{file}: cannot be read: {error.strerror}; name an archive") from None
    with opened:
        yield _Stream(file, opened)


def _header(stream: _Stream) -> tarfile.TarInfo:
    """The next header, which must be that of a regular file."""
    try:
        header = tarfile.TarInfo.frombuf(stream.exactly(tarfile.BLOCKSIZE), "utf-8", "strict")
    except (tarfile.HeaderError, ValueError):
        raise stream.damaged("is damaged, or no archive of dbdyno pack") from None
    if header.type != tarfile.REGTYPE:
        raise DynoError(
            "archive_refused",
            f"{stream.file}: {header.name!r} is a link, a device, a directory or an extension; only files are unpacked",
        )
    return header


def _manifest(stream: _Stream) -> Manifest:
    """The manifest, which is the first file and small."""
    header = _header(stream)
    if not header.name.endswith(f"/{manifest.FILE_NAME}") or header.size > manifest.LARGEST_BYTES:
        raise DynoError(
            "archive_refused", f"{stream.file}: {header.name!r} is its first file, not a {manifest.FILE_NAME}"
        )
    data = stream.exactly(header.size)
    stream.exactly(-header.size % tarfile.BLOCKSIZE)
    return manifest.parse(data, str(stream.file))


def _content(stream: _Stream, listed: Manifest, entry: Entry) -> Iterator[bytes]:
    """The next file in pieces, which must be the one that the manifest lists here; the last piece is checked, too."""
    header = _header(stream)
    if header.name != f"{listed.run_id}/{entry.path}":
        raise DynoError("archive_refused", f"{stream.file}: {header.name!r} stands where {entry.path!r} is listed")
    if header.size != entry.bytes:
        raise DynoError(
            "archive_refused", f"{stream.file}: {entry.path!r} has {header.size} bytes, the manifest says {entry.bytes}"
        )
    checksum = hashlib.sha256()
    for start in range(0, entry.bytes, _CHUNK_BYTES):
        piece = stream.exactly(min(_CHUNK_BYTES, entry.bytes - start))
        checksum.update(piece)
        yield piece
    if checksum.hexdigest() != entry.sha256:
        raise stream.damaged(f"{entry.path!r} has not the SHA-256 that the manifest says")
    stream.exactly(-entry.bytes % tarfile.BLOCKSIZE)


def _end(stream: _Stream) -> None:
    """Two blocks of zeros, filled up to a whole record: anything more was not announced."""
    rest = stream.at_most(2 * tarfile.RECORDSIZE)
    if len(rest) < 2 * tarfile.BLOCKSIZE:
        raise stream.damaged("ends too early")
    if any(rest) or stream.at_most(1):
        raise DynoError("archive_refused", f"{stream.file}: has more in it than its {manifest.FILE_NAME} lists")


@contextlib.contextmanager
def _staged(target: Path, listed: Manifest) -> Iterator[Path]:
    """A new directory beside `target` whose content goes there if nothing fails, the journal last: it makes a run."""
    try:
        if target.exists() and (not target.is_dir() or any(target.iterdir())):
            raise DynoError("out_not_empty", f"--out {target}: exists and is not empty; name a new directory")
        beside = target.resolve().parent
        free_bytes = shutil.disk_usage(beside).free
        if listed.total_bytes > free_bytes:
            raise DynoError(
                "out_full",
                f"--out {target}: {listed.total_bytes} bytes to unpack, {free_bytes} free; choose another --out",
            )
        with tempfile.TemporaryDirectory(prefix=".dbdyno-unpack-", dir=beside) as temporary:
            yield Path(temporary)
            target.mkdir(exist_ok=True)
            names = [path.name for path in Path(temporary).iterdir()]
            for name in sorted(names, key=lambda name: name == journal.FILE_NAME):
                (Path(temporary) / name).rename(target / name)
    except OSError as error:
        raise out_directory.unwritable(target, error) from None


def _write(path: Path, pieces: Iterable[bytes]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as opened:
        for piece in pieces:
            opened.write(piece)
