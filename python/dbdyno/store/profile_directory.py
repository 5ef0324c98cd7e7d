"""The directory of one profile: made when the watch starts, its record written once, when it ends.

```
DIRECTORY/record.json         what was seen: the record of truth
DIRECTORY/snapshots.parquet   every stretch of equal snapshots, for SQL
DIRECTORY/profile.json        the findings, made from the record
DIRECTORY/profile.html        the page, made from the record
```

    {"format": 1, ..., "stacks": null,"sha256":"9f..."}\\n
    '-------- what the checksum is over -'

Format and keys: docs/profile-directory.md.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dbdyno.errors import EXIT_RUN_FAILED, DynoError
from dbdyno.store import out_directory

FORMAT = 1
RECORD = "record.json"
SNAPSHOTS = "snapshots.parquet"
FINDINGS = "profile.json"
PAGE = "profile.html"
_CHECKSUM_KEY = b',"sha256":"'


def is_profile(directory: Path) -> bool:
    """Whether the directory is one of a profile, finished or not."""
    return any((directory / name).exists() for name in (RECORD, SNAPSHOTS))


def create(directory: Path) -> None:
    """Make the directory, or take an empty one; refused where it holds something or cannot be written."""
    out_directory.take(directory, "name a new directory")


def discard(directory: Path) -> None:
    """Take a directory away in which nothing came to be kept, with parents that are empty then."""
    (directory / SNAPSHOTS).unlink(missing_ok=True)
    for path in (directory, directory.parent):
        try:
            path.rmdir()
        except OSError:
            return


def write_record(directory: Path, record: Mapping[str, Any]) -> Path:
    """Write the record and make it durable: whole under its name, or not there at all."""
    path = directory / RECORD
    covered = json.dumps({"format": FORMAT, **record}, allow_nan=False, ensure_ascii=False)[:-1].encode()
    _write(path, covered + _CHECKSUM_KEY + hashlib.sha256(covered).hexdigest().encode() + b'"}\n')
    return path


def read_record(directory: Path) -> dict[str, Any]:
    """Read and verify the record of a profile."""
    path = directory / RECORD
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise DynoError(
            "no_profile", f"{directory}: holds no {RECORD}: that dbdyno profile did not end; profile again"
        ) from None
    except OSError as error:
        raise DynoError("run_unreadable", f"{path}: cannot be read: {error.strerror}") from None
    covered, key, rest = data.rpartition(_CHECKSUM_KEY)
    if not key or rest != hashlib.sha256(covered).hexdigest().encode() + b'"}\n':
        raise DynoError("run_damaged", f"{path}: is damaged; restore the directory from a copy")
    record = dict(json.loads(covered + b"}"))
    if record.get("format") != FORMAT:
        raise DynoError("run_format", f"{path}: has format {record.get('format')}; this dbdyno reads {FORMAT}")
    return record


def write_findings(directory: Path, document: Mapping[str, Any]) -> Path:
    """Put the findings beside the record."""
    path = directory / FINDINGS
    _write(path, (json.dumps(document, allow_nan=False, ensure_ascii=False, indent=1) + "\n").encode())
    return path


def write_page(directory: Path, html: str) -> Path:
    """Put the page beside the record."""
    path = directory / PAGE
    _write(path, html.encode())
    return path


def _write(path: Path, data: bytes) -> None:
    """Under another name first: a crash leaves the old file or the new one, never half of one."""
    new = path.with_name(f".{path.name}.new")
    try:
        with new.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
        descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        advice = "free some space" if error.errno == errno.ENOSPC else "choose another --out"
        raise DynoError(
            "run_unwritable",
            f"{path}: cannot be written: {error.strerror}; {advice}",
            exit_code=EXIT_RUN_FAILED,
        ) from None
