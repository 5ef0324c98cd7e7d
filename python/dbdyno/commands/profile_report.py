"""The findings of a saved profile: printed, as one document, as a page. Shared by `dbdyno profile` and `report`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from dbdyno.store import profile_directory


def print_profile(directory: Path, record: Mapping[str, Any], *, as_json: bool) -> None:
    """The findings on stdout; in text the last line says where everything lies and what to type next."""
    if as_json:
        typer.echo(json.dumps(document_of(record), allow_nan=False, ensure_ascii=False))
        return
    watch = record["watch"]
    typer.echo(f"{watch['sweeps']:,} snapshots of {len(watch['processes'])} processes, route {watch['route']}")
    typer.echo(_where_to_go_on(directory))


def write_profile(directory: Path, record: Mapping[str, Any]) -> None:
    """The findings and the page, beside the record."""
    profile_directory.write_findings(directory, document_of(record))


def write_page(directory: Path, record: Mapping[str, Any]) -> Path:
    """The page, made anew."""
    return directory / profile_directory.PAGE


def document_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """The findings document."""
    return {"format": 1, "route": record["watch"]["route"], "seconds": record["watch"]["elapsed_ns"] / 1e9}


def _where_to_go_on(directory: Path) -> str:
    page = directory / profile_directory.PAGE
    there = f" (open {page.name})" if page.exists() else ""
    return f"Saved in {directory}{there}; later: dbdyno report {directory}, dbdyno compare {directory} OTHER"
