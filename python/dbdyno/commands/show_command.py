"""`dbdyno show EXPERIMENT`: its files, to read, copy and change."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from dbdyno import experiments


def show(
    experiment: str = typer.Argument(..., metavar="EXPERIMENT", help="A shipped name or the path of a TOML file."),
    copy_to: Path | None = typer.Option(None, "--copy-to", metavar="DIR", help="Copy the files into a new directory."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON document: file name to text."),
) -> None:
    """Print the files of an experiment: what it means, what it runs."""
    files = experiments.files(experiments.find(experiment))
    if copy_to is not None:
        experiments.copy_files(files, copy_to)
        typer.echo(f"{copy_to}: {len(files)} files; dbdyno run {copy_to}/{experiments.FILE_NAME}")
    elif as_json:
        typer.echo(json.dumps(files, indent=1, ensure_ascii=False))
    else:
        for name, text in files.items():
            typer.echo(f"==> {name} <==\n{text}")
