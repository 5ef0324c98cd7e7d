"""The directory of one profile: made when the watch starts, its record written once, when it ends.

```
DIRECTORY/record.json         what was seen: the record of truth
DIRECTORY/snapshots.parquet   every stretch of equal snapshots, for SQL
DIRECTORY/profile.json        the findings, made from the record
DIRECTORY/profile.html        the page, made from the record
```

Format and keys: docs/profile-directory.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dbdyno.store import out_directory, record_file

FORMAT = 1
RECORD = "record.json"
SNAPSHOTS = "snapshots.parquet"
FINDINGS = "profile.json"
PAGE = "profile.html"


def is_profile(directory: Path) -> bool:
    """Whether the directory is one of a profile, finished or not."""
    return any((directory / name).exists() for name in (RECORD, SNAPSHOTS))


def create(directory: Path) -> None:
    """Make the directory, or take an empty one; refused where it holds something or cannot be written."""
    out_directory.take(directory, "name a new directory")


def discard(directory: Path) -> None:
    """Take a directory away in which nothing came to be kept."""
    (directory / SNAPSHOTS).unlink(missing_ok=True)
    out_directory.give_back(directory)


def write_record(directory: Path, record: Mapping[str, Any]) -> Path:
    """Write the record and make it durable: whole under its name, or not there at all."""
    return record_file.write_record(directory / RECORD, FORMAT, record)


def read_record(directory: Path) -> dict[str, Any]:
    """Read and verify the record of a profile."""
    absent = f"{directory}: holds no {RECORD}: that dbdyno profile did not end; profile again"
    return record_file.read_record(directory / RECORD, FORMAT, ("no_profile", absent))


def write_findings(directory: Path, document: Mapping[str, Any]) -> Path:
    """Put the findings beside the record."""
    return record_file.write_json(directory / FINDINGS, document)


def write_page(directory: Path, html: str) -> Path:
    """Put the page beside the record."""
    return record_file.write(directory / PAGE, html.encode())
