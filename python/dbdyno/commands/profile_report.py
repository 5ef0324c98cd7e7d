"""The findings of a saved profile: printed, as one document, as a page. Shared by `dbdyno profile` and `report`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from dbdyno.analysis.server_profile import analyse, as_document
from dbdyno.analysis.server_profile.findings import ServerProfile
from dbdyno.report.html import server_profile as page
from dbdyno.report.server_profile import terminal
from dbdyno.store import profile_directory


def findings_of(record: Mapping[str, Any]) -> ServerProfile:
    """What a record says; the same one says the same."""
    return analyse(record)


def print_profile(directory: Path, profile: ServerProfile, *, as_json: bool) -> None:
    """The findings on stdout; in text the last lines say where everything lies and what to type next."""
    if as_json:
        typer.echo(json.dumps(as_document(profile), allow_nan=False, ensure_ascii=False, indent=1))
        return
    path = directory / profile_directory.PAGE
    terminal.print_profile(profile, Console(), directory=str(directory), page=str(path) if path.exists() else None)


def write_profile(directory: Path, profile: ServerProfile) -> None:
    """The findings and the page, beside the record."""
    profile_directory.write_findings(directory, as_document(profile))
    write_page(directory, profile)


def write_page(directory: Path, profile: ServerProfile) -> Path:
    """The page, made anew."""
    return profile_directory.write_page(directory, page.page(profile))
