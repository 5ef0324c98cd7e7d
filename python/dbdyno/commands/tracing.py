"""What `dbdyno trace FILE...` does: read all files, conclude, print."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import typer
from rich.console import Console

from dbdyno import engine
from dbdyno.analysis.trace.analyse import analyse
from dbdyno.analysis.trace.document import to_json
from dbdyno.commands.trace_progress import TraceProgress
from dbdyno.errors import DynoError
from dbdyno.report.trace import terminal


def trace(files: Sequence[Path], *, as_json: bool) -> None:
    """From the files to the report."""
    for file in files:
        if file.is_dir():
            raise DynoError("bad_file", f"{file}: is a directory; name trace files")
        if not file.exists():
            raise DynoError("no_file", f"{file}: does not exist; name trace files")
    spec = {"files": [str(file) for file in files], "threads": len(os.sched_getaffinity(0))}
    with TraceProgress() as progress:
        found = analyse(engine.trace_profile(spec, progress.take))
    if as_json:
        typer.echo(to_json(found), nl=False)
    else:
        terminal.print_findings(found, Console())
