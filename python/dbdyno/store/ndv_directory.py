"""The directory of one count of different values: its record is written once, when the scan ends.

```
DIRECTORY/scan.json      catalogue, what was read and what was found: the record of truth
DIRECTORY/sketches.ndv   the sketches, which merge with those of other parts (docs/sketch-file.md)
DIRECTORY/ndv.json       the findings, made from the record
DIRECTORY/ndv.html       the page, made from the record
DIRECTORY/datasketches/COLUMN.hll, .cpc, .theta    sketches for other programs, where they were asked for
DIRECTORY/fix.sql        what mends the planner's figures, where something is to be mended
DIRECTORY/undo.sql       what takes that back
```

Of several tables that were counted together each has such a directory, below that of the command.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dbdyno.store import out_directory, record_file

FORMAT = 1
RECORD = "scan.json"
SKETCHES = "sketches.ndv"
FINDINGS = "ndv.json"
PAGE = "ndv.html"
FIX = "fix.sql"
UNDO = "undo.sql"
EXPORTS = "datasketches"


def is_count(directory: Path) -> bool:
    """Whether the directory is one of a count."""
    return any((directory / name).exists() for name in (SKETCHES, FINDINGS))


def counts_in(directory: Path) -> list[Path]:
    """The directory itself where it is one of a count; else those in it, of tables that were counted together."""
    if is_count(directory) or not directory.is_dir():
        return [directory] if is_count(directory) else []
    return [below for below in sorted(directory.iterdir()) if is_count(below)]


def create(directory: Path) -> None:
    """Make the directory, or take an empty one; refused where it holds something or cannot be written."""
    out_directory.take(directory, "name a new directory")


def discard(directory: Path) -> None:
    """Take a directory away in which nothing came to be kept."""
    out_directory.give_back(directory)


def write_record(directory: Path, record: Mapping[str, Any], sketches: bytes) -> None:
    """Write sketches and record and make them durable; the record comes last: with it the count is whole."""
    record_file.write(directory / SKETCHES, sketches)
    record_file.write_record(directory / RECORD, FORMAT, record)


def write_exports(directory: Path, sketches: Mapping[str, bytes]) -> Path:
    """Put sketches for other programs beside the record, by their files' names."""
    exports = directory / EXPORTS
    exports.mkdir(exist_ok=True)
    for name, sketch in sketches.items():
        record_file.write(exports / name, sketch)
    return exports


def read_record(directory: Path) -> dict[str, Any]:
    """Read and verify the record of a count."""
    absent = f"{directory}: holds no {RECORD}: that dbdyno ndv did not end; count again"
    return record_file.read_record(directory / RECORD, FORMAT, ("no_count", absent))


def write_findings(directory: Path, document: str, scripts: Mapping[str, str | None]) -> None:
    """Put the findings beside the record, and those of the scripts that there are."""
    record_file.write(directory / FINDINGS, document.encode())
    for name, text in scripts.items():
        if text is not None:
            record_file.write(directory / name, text.encode())


def write_page(directory: Path, html: str) -> Path:
    """Put the page beside the record."""
    return record_file.write(directory / PAGE, html.encode())
