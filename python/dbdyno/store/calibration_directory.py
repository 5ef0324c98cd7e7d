"""The directory of one calibration: its record is written once, when it ends.

```
DIRECTORY/cells.json         every cell with its histogram: the record of truth
DIRECTORY/calibration.json   the findings, made from the record
DIRECTORY/calibration.html   the page, made from the record
DIRECTORY/confirm/           the experiments that ask the server about each proposed setting
```
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dbdyno.store import out_directory, record_file

FORMAT = 1
RECORD = "cells.json"
FINDINGS = "calibration.json"
PAGE = "calibration.html"
CONFIRM = "confirm"


def is_calibration(directory: Path) -> bool:
    """Whether the directory is one of a calibration."""
    return any((directory / name).exists() for name in (RECORD, FINDINGS))


def create(directory: Path) -> None:
    """Make the directory, or take an empty one; refused where it holds something or cannot be written."""
    out_directory.take(directory, "name a new directory")


def discard(directory: Path) -> None:
    """Take a directory away in which nothing came to be kept."""
    out_directory.give_back(directory)


def write_record(directory: Path, record: Mapping[str, Any]) -> Path:
    """Write the record and make it durable."""
    return record_file.write_record(directory / RECORD, FORMAT, record)


def read_record(directory: Path) -> dict[str, Any]:
    """Read and verify the record of a calibration."""
    absent = f"{directory}: holds no {RECORD}: that dbdyno calibrate did not end; calibrate again"
    return record_file.read_record(directory / RECORD, FORMAT, ("no_calibration", absent))


def write_findings(directory: Path, document: Mapping[str, Any]) -> Path:
    """Put the findings beside the record."""
    return record_file.write_json(directory / FINDINGS, document)


def write_experiments(directory: Path, files: Mapping[str, str]) -> None:
    """Put the experiments that would confirm the settings beside the record."""
    if files:
        (directory / CONFIRM).mkdir(exist_ok=True)
    for name, text in files.items():
        record_file.write(directory / CONFIRM / name, text.encode())


def write_page(directory: Path, html: str) -> Path:
    """Put the page beside the record."""
    return record_file.write(directory / PAGE, html.encode())
