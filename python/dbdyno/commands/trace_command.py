"""`dbdyno trace`: its flags."""

from __future__ import annotations

from pathlib import Path

import typer


def trace(
    files: list[Path] = typer.Argument(
        ...,
        metavar="FILE...",
        help="Oracle's extended SQL trace (event 10046), also as .gz, .bz2, .xz or .zst.",
    ),
    as_json: bool = typer.Option(False, "--json", help="Print the findings as one JSON document."),
) -> None:
    """Say where the time of Oracle's trace files went, in lines that add up to their duration."""
    from dbdyno.commands import tracing

    tracing.trace(files, as_json=as_json)
