"""The findings of a saved count: printed, as one document, as a page. Shared by `ndv` and `report`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from dbdyno.analysis.ndv.analyse import analyse, with_foreign_keys, with_what_if
from dbdyno.analysis.ndv.document import to_json, to_json_of_several
from dbdyno.analysis.ndv.findings import NdvFindings
from dbdyno.analysis.ndv.foreign_keys import foreign_keys
from dbdyno.analysis.ndv.overlapping import overlap_of
from dbdyno.report.html.ndv import page
from dbdyno.report.ndv import terminal
from dbdyno.store import ndv_directory


def findings_of(record: Mapping[str, Any]) -> NdvFindings:
    """What a record says; the same one says the same."""
    found = analyse(record["catalogue"], record["scan"], record["outcome"], record["planner_groups"])
    found = dataclasses.replace(found, target=record["target"])
    found = with_foreign_keys(found, foreign_keys(map(overlap_of, record["overlaps"])))
    return found if record["what_if"] is None else with_what_if(found, record["what_if"])


def write_findings(directory: Path, found: NdvFindings) -> None:
    """The findings and the scripts, beside the record."""
    scripts = {ndv_directory.FIX: found.fix_script, ndv_directory.UNDO: found.undo_script}
    ndv_directory.write_findings(directory, to_json(found), scripts)


def write_page(directory: Path, found: NdvFindings) -> Path:
    """The page, made anew."""
    return ndv_directory.write_page(directory, page(found))


def print_counts(counts: Sequence[tuple[Path, NdvFindings]], *, as_json: bool) -> None:
    """The findings on stdout: of one table as they are, of several one after the other."""
    if as_json:
        found = [one for _, one in counts]
        typer.echo(to_json(found[0]) if len(found) == 1 else to_json_of_several(found), nl=False)
        return
    for place, (directory, one) in enumerate(counts):
        if place:
            typer.echo()
        path = directory / ndv_directory.PAGE
        terminal.print_findings(one, Console(), str(directory), str(path) if path.exists() else None)
