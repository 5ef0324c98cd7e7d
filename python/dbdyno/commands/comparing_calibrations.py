"""What `dbdyno compare` does with calibrations: two, or the last of many against those before."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer
from rich.console import Console

from dbdyno.analysis.calibrations_compared.compare import compare_calibrations
from dbdyno.analysis.calibrations_compared.document import to_json
from dbdyno.analysis.calibrations_compared.record import Recorded
from dbdyno.commands.comparing_runs import write_page
from dbdyno.errors import EXIT_DONE, EXIT_GATE, DynoError
from dbdyno.report.calibrations_compared import terminal
from dbdyno.report.calibrations_compared.words import gate_words
from dbdyno.report.html import calibrations as page
from dbdyno.store import calibration_directory, kept_calibrations


def compare(places: Sequence[Path], *, gate: bool, html: Path | None, as_json: bool, margin: float) -> int:
    """Compare, print, write the page; the exit code is that of the gate."""
    named = [_read(place) for place in places]
    others = list(_kept(places)) if len(named) == 2 else []
    found = compare_calibrations(named, others, margin)
    if html is not None:
        write_page(html, page.page(found))
    if as_json:
        typer.echo(to_json(found), nl=False)
    else:
        terminal.print_comparison(found, Console(), page=None if html is None else str(html))
    if not gate:
        return EXIT_DONE
    typer.echo(gate_words(found), err=True)
    return EXIT_GATE if found.worse else EXIT_DONE


def _read(place: Path) -> Recorded:
    return Recorded(str(place), calibration_directory.read_record(place))


def _kept(places: Sequence[Path]) -> list[Recorded]:
    """Nobody named these: one that is damaged is left alone."""
    found = []
    for place in kept_calibrations.beside(places):
        try:
            found.append(_read(place))
        except DynoError as error:
            typer.echo(f"left out: {error}", err=True)
    return found
