"""`dbdyno unpack`: a run directory again, of an archive that `dbdyno pack` made."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import typer

from dbdyno.report.numbers import count
from dbdyno.store import unpack as archive
from dbdyno.store.run_directory import StoredRun, experiment_copy


def unpack(
    file: Path = typer.Argument(..., metavar="FILE", help="An archive that dbdyno pack made."),
    out: Path | None = typer.Option(
        None, "--out", metavar="DIR", help="The run directory, new or empty; default RUN_ID."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON document."),
) -> None:
    """Unpack an archive into a run directory, every file checked."""
    directory, listed, stored = archive.unpack(file, out)
    if as_json:
        document = {
            "format": 1, "run_directory": str(directory), "run_id": listed.run_id,
            "finished": stored.ended, "files": len(listed.files), "unpacked_bytes": listed.total_bytes,
        }  # fmt: skip
        typer.echo(json.dumps(document, indent=1, ensure_ascii=False))
        return
    place = shlex.quote(str(directory))
    typer.echo(f"{directory}: {count(len(listed.files), 'file')}, as they were packed")
    typer.echo(f"\nRead it:   dbdyno report {place}")
    if not stored.ended:
        typer.echo(f"Resume it: dbdyno run --resume {place}")
    typer.echo(f"Rerun it:  {_rerun(stored)}")


def _rerun(stored: StoredRun) -> str:
    """The command that runs the same schedule again."""
    copy = shlex.quote(str(experiment_copy(stored)))
    quick = " --quick" if stored.run["quick"] else ""
    return f"dbdyno run {copy}{quick} --blocks {stored.run['blocks']} --seed {stored.run['seed']}"
