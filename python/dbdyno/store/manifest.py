"""The manifest of an archive: which files are in it, how large they are, and their SHA-256.

```
{"format": 1, "run_id": "commit-write-20261120T060000Z-42", "dbdyno": {"version": "0.1.0", ...},
 "files": [{"path": "experiment/experiment.toml", "bytes": 1234, "sha256": "9f..."}, ...]}
```

It comes from somebody else's machine: nothing in it is believed before it was checked here.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from dbdyno.errors import DynoError
from dbdyno.store import journal, run_directory

FORMAT = 1
FILE_NAME = "MANIFEST.json"
# Some 25,000 files; an experiment has about ten. It bounds what is read before anything is known.
LARGEST_BYTES = 4 * 2**20
# What the size field of a ustar header holds.
LARGEST_FILE_BYTES = 8 * 2**30 - 1
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """One file of the run directory."""

    path: str
    bytes: int
    sha256: str


@dataclasses.dataclass(frozen=True, slots=True)
class Manifest:
    """What an archive says about itself."""

    run_id: str
    dbdyno: dict[str, Any]
    files: list[Entry]

    @property
    def total_bytes(self) -> int:
        """What the files take when they are unpacked."""
        return sum(entry.bytes for entry in self.files)


def of(run: Mapping[str, Any], files: Mapping[str, bytes]) -> Manifest:
    """The manifest of a run; `files` are those of its directory, by relative path.

    `dbdyno` is what measured the run, not what packs it: so the same run gives the same archive for ever.
    """
    entries = [Entry(path, len(data), hashlib.sha256(data).hexdigest()) for path, data in files.items()]
    return Manifest(str(run["run_id"]), dict(run["dbdyno"]), entries)


def render(manifest: Manifest) -> bytes:
    """As it stands in the archive: for people, too."""
    document = {"format": FORMAT, **dataclasses.asdict(manifest)}
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def parse(data: bytes, archive: str) -> Manifest:
    """Check everything that a manifest says; `archive` is what an error calls it."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        raise DynoError("archive_damaged", f"{archive}: {FILE_NAME} is not JSON; ask for the archive again") from None
    if not isinstance(document, dict) or "format" not in document:
        raise DynoError("archive_damaged", f"{archive}: {FILE_NAME} has no format; ask for the archive again")
    if type(document["format"]) is not int or document["format"] != FORMAT:
        shown = json.dumps(document["format"])[:20]
        raise DynoError("archive_format", f"{archive}: has archive format {shown}; this dbdyno reads {FORMAT}")
    try:
        entries = [Entry(**entry) for entry in document["files"]]
        manifest = Manifest(document["run_id"], dict(document["dbdyno"]), entries)
        mistake = first_mistake(manifest)
    except (KeyError, TypeError, ValueError, RecursionError):
        raise DynoError(
            "archive_damaged", f"{archive}: {FILE_NAME} lacks run_id, dbdyno or files; ask for the archive again"
        ) from None
    if mistake is not None:
        raise DynoError("archive_refused", f"{archive}: {FILE_NAME}: {mistake}")
    return manifest


def first_mistake(manifest: Manifest) -> str | None:
    """What is wrong with a manifest, or None."""
    if not is_plain_name(manifest.run_id):
        return f"run_id {manifest.run_id!r} is no name for a directory"
    paths: set[str] = set()
    for entry in manifest.files:
        if not belongs_to_a_run(entry.path):
            return f"{entry.path!r} is no file of a run directory"
        if entry.path in paths:
            return f"{entry.path!r} is listed twice"
        paths.add(entry.path)
        if type(entry.bytes) is not int or not 0 <= entry.bytes <= LARGEST_FILE_BYTES:
            return f"{entry.path!r} has the impossible size {entry.bytes!r}"
        if not isinstance(entry.sha256, str) or not _SHA256.fullmatch(entry.sha256):
            return f"{entry.path!r} has no SHA-256"
    if journal.FILE_NAME not in paths:
        return f"{journal.FILE_NAME!r} is not listed"
    return None


def is_plain_name(name: object) -> bool:
    """One component of a path that stays where it is put and can be printed."""
    return isinstance(name, str) and name not in ("", ".", "..") and "/" not in name and name.isprintable()


def belongs_to_a_run(path: object) -> bool:
    """The journal, the report, or something below the experiment's copies; no other path is ever written."""
    if path in (journal.FILE_NAME, run_directory.REPORT):
        return True
    if not isinstance(path, str):
        return False
    first, *rest = path.split("/")
    return first == run_directory.COPIES and bool(rest) and all(is_plain_name(part) for part in rest)
