"""`dbdyno pack`: one archive of a run, to hand on."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import typer

from dbdyno.report.numbers import count, size
from dbdyno.store import archive


def pack(
    directory: Path = typer.Argument(..., metavar="RUN_DIR", help="A directory that dbdyno run made."),
    out: Path | None = typer.Option(
        None, "--out", metavar="FILE", help="The archive, a new file; default RUN_ID.dbdyno.tar.gz."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON document."),
) -> None:
    """Pack a run into one archive that somebody else can read, go on with or run again."""
    file, listed, stored = archive.pack(directory, out)
    if not stored.ended:
        typer.echo(f"{directory}: is not finished; after dbdyno unpack it can be resumed", err=True)
    archive_bytes = file.stat().st_size
    if as_json:
        document = {
            "format": 1, "archive": str(file), "bytes": archive_bytes, "run_id": listed.run_id,
            "finished": stored.ended, "files": len(listed.files), "unpacked_bytes": listed.total_bytes,
        }  # fmt: skip
        typer.echo(json.dumps(document, indent=1, ensure_ascii=False))
        return
    name = shlex.quote(str(file))
    typer.echo(
        f"{file}: {count(len(listed.files), 'file')}, {size(archive_bytes)} ({size(listed.total_bytes)} unpacked)"
    )
    typer.echo(f"\nRead it:   dbdyno report {name}\nUnpack it: dbdyno unpack {name}")
