"""A run wherever it is kept, in its directory or in an archive, with the checksums of its experiment's files."""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path

from dbdyno.errors import DynoError
from dbdyno.store import run_directory, unpack
from dbdyno.store.run_directory import COPIES, StoredRun


@dataclasses.dataclass(frozen=True, slots=True)
class SavedRun:
    """A run and, by their paths beside the experiment file, the SHA-256 of the files that it was made of."""

    stored: StoredRun
    files: dict[str, str]


def read(place: Path) -> SavedRun:
    """Read and verify a run; no file is written."""
    if not place.is_file():
        return SavedRun(run_directory.read(place)[0], _checksums(place / COPIES))
    stored, listed = unpack.read_listed(place)
    lead = f"{COPIES}/"
    files = {entry.path.removeprefix(lead): entry.sha256 for entry in listed.files if entry.path.startswith(lead)}
    return SavedRun(stored, dict(sorted(files.items())))


def _checksums(copies: Path) -> dict[str, str]:
    """Of an older or a damaged directory without copies there are none."""
    try:
        return {
            path.relative_to(copies).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(copies.rglob("*"))
            if path.is_file()
        }
    except OSError as error:
        raise DynoError("run_unreadable", f"{copies}: cannot be read: {error.strerror}") from None
