"""What `dbdyno compare` does with two profiles."""

from __future__ import annotations

import json
from pathlib import Path

import typer
from rich.console import Console

from dbdyno.analysis.server_profile.compare import as_document, compare_records
from dbdyno.errors import EXIT_DONE
from dbdyno.report.server_profile.comparison import print_comparison
from dbdyno.store import profile_directory


def compare(first: Path, second: Path, *, as_json: bool) -> int:
    """Where the time moved from one to the other."""
    found = compare_records(profile_directory.read_record(first), profile_directory.read_record(second))
    if as_json:
        typer.echo(json.dumps(as_document(found), allow_nan=False, ensure_ascii=False, indent=1))
    else:
        print_comparison(found, Console())
    return EXIT_DONE
