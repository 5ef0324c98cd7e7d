"""A run directory on disk: made once, appended to, read by anyone.

```
DIRECTORY/journal.jsonl   the record of truth
DIRECTORY/experiment/     the experiment file and what it refers to, as they were
DIRECTORY/report.html     made from the journal
```
"""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dbdyno.errors import DynoError
from dbdyno.store import journal, out_directory

COPIES = "experiment"
# Why a run that needs no more trials has ended.
ENDS = ("complete", "decided")
REPORT = "report.html"


@dataclasses.dataclass(frozen=True, slots=True)
class StoredRun:
    """What a run directory holds, in memory."""

    directory: Path
    run: dict[str, Any]
    machine: dict[str, Any]
    trials: list[dict[str, Any]]
    ended: bool


def check_usable(directory: Path) -> None:
    """Refuse a run directory that could not be written, before anything is started."""
    out_directory.take(directory, "name a new directory, or --resume it")


def create(directory: Path, experiment_file: Path, files: Iterable[Path], run: Mapping[str, Any]) -> journal.Journal:
    """Copy the experiment into a usable directory and write the `run` record."""
    check_usable(directory)
    try:
        _copy(experiment_file.parent, files, directory / COPIES)
    except OSError as error:
        raise out_directory.unwritable(directory, error) from None
    opened = journal.Journal(directory / journal.FILE_NAME)
    opened.append("run", run)
    return opened


def _copy(root: Path, files: Iterable[Path], destination: Path) -> None:
    """Copies keep their place relative to the experiment file; one from outside its directory is refused."""
    for file in files:
        relative = Path(file.name) if file.parent == root else _relative(file, root)
        copy = destination / relative
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)


def _relative(file: Path, root: Path) -> Path:
    resolved, base = file.resolve(), root.resolve()
    if not resolved.is_relative_to(base):
        raise DynoError(
            "file_outside",
            f"{file}: lies outside the experiment's directory {root}; move it beside the experiment file",
        )
    return resolved.relative_to(base)


def read(directory: Path) -> tuple[StoredRun, journal.Contents]:
    """Read and verify a run directory; a torn last record is left out."""
    if directory.is_file():
        raise DynoError("no_run", f"{directory}: is a file, not a run directory; dbdyno unpack makes one of an archive")
    if not directory.is_dir():
        raise DynoError("no_run", f"{directory}: no such run directory; dbdyno run makes one")
    path = directory / journal.FILE_NAME
    if not path.exists():
        raise DynoError("no_run", f"{directory}: holds no {journal.FILE_NAME}; name a directory that dbdyno run made")
    contents = journal.read(path)
    return stored_run(directory, contents, str(path)), contents


def stored_run(directory: Path, contents: journal.Contents, name: str) -> StoredRun:
    """What the records of a journal say; `name` is what an error calls the journal."""
    if not contents.records or contents.records[0].kind != "run":
        raise DynoError("run_damaged", f"{name}: has no whole first record; nothing was measured yet, start a new run")
    run = contents.records[0].body
    if run.get("format") != journal.FORMAT:
        raise DynoError("run_format", f"{name}: has format {run.get('format')}; this dbdyno reads {journal.FORMAT}")
    machines = [record.body for record in contents.records if record.kind == "machine"]
    return StoredRun(
        directory=directory,
        run=run,
        machine=machines[-1] if machines else {},
        trials=[record.body for record in contents.records if record.kind == "trial"],
        ended=any(record.kind == "end" and record.body["reason"] in ENDS for record in contents.records),
    )


def experiment_copy(stored: StoredRun) -> Path:
    """The experiment file kept in a run directory."""
    path = stored.directory / COPIES / str(stored.run["experiment_file"])
    if not path.exists():
        raise DynoError("run_damaged", f"{path}: is missing; a run can be resumed only with its copies")
    return path


def original_name(experiment_file: Path) -> str | None:
    """What a copy in a run directory was called when it was run; None for any other experiment file."""
    copies = experiment_file.resolve().parent
    if copies.name != COPIES or not (copies.parent / journal.FILE_NAME).exists():
        return None
    return str(read(copies.parent)[0].run["experiment"])


def resume(stored: StoredRun, contents: journal.Contents) -> journal.Journal:
    """Open the journal behind its last whole record."""
    return journal.Journal(stored.directory / journal.FILE_NAME, contents)


def write_report(directory: Path, html: str) -> Path:
    """Put the HTML report beside the journal."""
    path = directory / REPORT
    try:
        path.write_text(html, encoding="utf-8")
    except OSError as error:
        raise DynoError(
            "report_unwritable", f"{path}: cannot be written: {error.strerror}; the measurements are kept", exit_code=1
        ) from None
    return path
