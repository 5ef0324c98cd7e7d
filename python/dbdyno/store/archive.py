"""An archive: one file that holds a run, for somebody else to analyse again, to go on with, or to run anew.

```
RUN_ID.dbdyno.tar.gz      gzip of a ustar archive: `tar xzf` opens it, too
  RUN_ID/MANIFEST.json      first: the size and SHA-256 of every file behind it, in this order
  RUN_ID/experiment/...     the experiment file and what it refers to
  RUN_ID/journal.jsonl      the record of truth, without a torn tail
  RUN_ID/report.html        if the run directory had one
```

The same run directory gives the same archive: nothing in it comes from the clock, the user or the place.
"""

from __future__ import annotations

import gzip
import io
import stat
import tarfile
from datetime import datetime
from pathlib import Path

from dbdyno.errors import DynoError
from dbdyno.store import journal, manifest, out_directory, run_directory
from dbdyno.store.manifest import Manifest
from dbdyno.store.run_directory import StoredRun

SUFFIX = ".dbdyno.tar.gz"


def pack(directory: Path, file: Path | None) -> tuple[Path, Manifest, StoredRun]:
    """Make an archive of a run directory, verified first; without `file` it is named after the run, in this directory.

    Raises:
        DynoError: the directory is no whole run, or the file exists or cannot be written.
    """
    stored, contents = run_directory.read(directory)
    files = _files(stored, contents)
    listed = manifest.of(stored.run, files)
    if (mistake := manifest.first_mistake(listed)) is not None:
        raise DynoError("run_unpackable", f"{directory}: cannot be packed: {mistake}")
    data = _tar(listed, files, int(datetime.fromisoformat(stored.run["started_at"]).timestamp()))
    target = file or Path(listed.run_id + SUFFIX)
    _write_new(target, data)
    return target, listed, stored


def _files(stored: StoredRun, contents: journal.Contents) -> dict[str, bytes]:
    """The files of a run by their relative paths, sorted; whatever else lies in the directory is left out."""
    run_directory.experiment_copy(stored)
    directory = stored.directory
    copies = directory / run_directory.COPIES
    report = directory / run_directory.REPORT
    paths = [path for path in copies.rglob("*") if path.is_symlink() or not path.is_dir()]
    files = {path.relative_to(directory).as_posix(): _regular(path) for path in paths}
    files[journal.FILE_NAME] = _regular(directory / journal.FILE_NAME)[: contents.whole_bytes]
    if report.exists():
        files[run_directory.REPORT] = _regular(report)
    return dict(sorted(files.items()))


def _regular(path: Path) -> bytes:
    """The content of a regular file; anything else could bring in what is not of this run."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            raise DynoError("run_unpackable", f"{path}: is not a regular file; replace it by one, then pack")
        return path.read_bytes()
    except OSError as error:
        raise DynoError("run_unreadable", f"{path}: cannot be read: {error.strerror}") from None


def _tar(listed: Manifest, files: dict[str, bytes], time_s: int) -> bytes:
    """The archive's bytes. Every file has the time at which the run began."""
    packed = io.BytesIO()
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT, encoding="utf-8") as tar,
    ):
        for path, data in {manifest.FILE_NAME: manifest.render(listed), **files}.items():
            header = tarfile.TarInfo(f"{listed.run_id}/{path}")
            header.size = len(data)
            header.mtime = time_s
            try:
                tar.addfile(header, io.BytesIO(data))
            except ValueError as error:
                raise DynoError("run_unpackable", f"{path}: cannot be packed: {error}") from None
    return packed.getvalue()


def _write_new(file: Path, data: bytes) -> None:
    """Write a file that must not exist; a failure leaves none behind."""
    try:
        with file.open("xb") as opened:
            try:
                opened.write(data)
            except BaseException:
                file.unlink()
                raise
    except FileExistsError:
        raise DynoError("out_exists", f"--out {file}: exists already; name another file") from None
    except OSError as error:
        raise out_directory.unwritable(file, error) from None
