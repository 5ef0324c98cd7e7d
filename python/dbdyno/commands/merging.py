"""What `dbdyno ndv merge` does: the union of files of sketches, written if asked for, and what it says."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import typer
from rich.console import Console

from dbdyno import engine
from dbdyno.analysis.ndv.merged import merged_counts, to_document
from dbdyno.errors import DynoError
from dbdyno.report.ndv.merged import print_merged
from dbdyno.store import ndv_directory, record_file


def merge(places: Sequence[str], out: Path | None, *, as_json: bool) -> None:
    """Each place is a file of sketches, or the directory of a count."""
    if not places:
        raise DynoError("no_sketches", "merge: names no file; give files of sketches, or directories of counts")
    if out is not None and out.exists():
        raise DynoError("out_not_empty", f"--out {out}: is there already; name a new file")
    files = [_read(Path(place)) for place in places]
    try:
        sketches = engine.sketch_merge(files)
    except DynoError as error:  # the core knows files by their numbers
        number = re.match(r"file (\d+)", error.message)
        named = error.message if number is None else f"{places[int(number[1]) - 1]}{error.message[number.end() :]}"
        raise DynoError(error.code, f"merge: {named}") from None
    if out is not None:
        record_file.write(out, sketches)
    document = engine.sketch_estimates(sketches)
    found = merged_counts(document, len(places))
    if as_json:
        typer.echo(json.dumps(to_document(document, found), indent=1, ensure_ascii=False))
    else:
        print_merged(found, Console(), None if out is None else str(out))


def _read(place: Path) -> bytes:
    path = place / ndv_directory.SKETCHES if place.is_dir() else place
    try:
        return path.read_bytes()
    except OSError as error:
        raise DynoError(
            "sketches_unreadable", f"{path}: cannot be read: {error.strerror}; name a file of sketches"
        ) from None
