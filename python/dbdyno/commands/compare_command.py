"""`dbdyno compare`: what changed from one saved measurement to another, with no database.

What is compared depends on what the two are. Profiles are, today; each kind has its own comparison and report, and two
different kinds have none.
"""

from __future__ import annotations

import json
from pathlib import Path

import typer

from dbdyno.errors import DynoError
from dbdyno.store import journal, profile_directory

PROFILE, RUN = "a profile", "a run"


def compare(
    first: Path = typer.Argument(..., metavar="A", help="A directory that dbdyno profile made."),
    second: Path = typer.Argument(..., metavar="B", help="Another one, of the same kind."),
    as_json: bool = typer.Option(False, "--json", help="Print the comparison as one JSON document."),
) -> None:
    """Say where the time moved from A to B."""
    kinds = kind_of(first), kind_of(second)
    if kinds[0] != kinds[1]:
        raise DynoError("mixed_kinds", f"{second}: is {kinds[1]} and {first} {kinds[0]}; compare two of one kind")
    if kinds[0] == RUN:
        raise DynoError(
            "runs_not_compared", f"{first}: is a run; compare takes profiles, the arms of a run stand in its report"
        )
    from rich.console import Console

    from dbdyno.analysis.server_profile.compare import as_document, compare_records
    from dbdyno.report.server_profile.comparison import print_comparison

    found = compare_records(profile_directory.read_record(first), profile_directory.read_record(second))
    if as_json:
        typer.echo(json.dumps(as_document(found), allow_nan=False, ensure_ascii=False, indent=1))
    else:
        print_comparison(found, Console())


def kind_of(directory: Path) -> str:
    """What a directory, or an archive, was made by."""
    if directory.is_dir() and profile_directory.is_profile(directory):
        return PROFILE
    if directory.is_file() or (directory / journal.FILE_NAME).exists():
        return RUN
    raise DynoError("not_comparable", f"{directory}: holds no profile; name a directory that dbdyno profile made")
