"""What `dbdyno compare` does with runs: two against each other, or all along the time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer
from rich.console import Console

from dbdyno.analysis.runs_compared.compare import compare_runs
from dbdyno.analysis.runs_compared.document import to_json
from dbdyno.analysis.runs_compared.findings import RunsComparison
from dbdyno.analysis.runs_compared.history import runs_history
from dbdyno.analysis.runs_compared.record import Recorded
from dbdyno.errors import EXIT_DONE, EXIT_GATE, DynoError
from dbdyno.report.html import runs as page
from dbdyno.report.runs_compared import history as history_report
from dbdyno.report.runs_compared import terminal
from dbdyno.report.runs_compared.sentences import gate_words
from dbdyno.report.runs_compared.terminal import Places
from dbdyno.store import saved_run


def compare(places: Sequence[Path], *, gate: bool, html: Path | None, as_json: bool) -> int:
    """Compare, print, write the page; the exit code is that of the gate."""
    if gate and len(places) > 2:
        raise DynoError("flag_conflict", f"--gate: compares two runs, not {len(places)}; name the run before and this")
    runs = [read(place) for place in places]
    if len(runs) == 2:
        return _two(runs[0], runs[1], places, gate=gate, html=html, as_json=as_json)
    history = runs_history(runs)
    if html is not None:
        write_page(html, page.history_page(history))
    if as_json:
        typer.echo(to_json(history), nl=False)
    else:
        history_report.print_history(history, Console(), page=None if html is None else str(html))
    return EXIT_DONE


def read(place: Path) -> Recorded:
    """A run directory or an archive, read and verified."""
    saved = saved_run.read(place)
    return Recorded(str(place), saved.stored.run, saved.stored.machine, saved.stored.trials, saved.files)


def _two(
    first: Recorded, second: Recorded, places: Sequence[Path], *, gate: bool, html: Path | None, as_json: bool
) -> int:
    found = compare_runs(first, second)
    shown = Places(
        [str(place) for place in places],
        [place.is_file() for place in places],
        None if html is None else str(html),
    )
    if html is not None:
        write_page(html, page.comparison_page(found, runs_history([first, second]), shown))
    if as_json:
        typer.echo(to_json(found), nl=False)
    else:
        terminal.print_comparison(found, Console(), shown)
    return _gate(found) if gate else EXIT_DONE


def _gate(found: RunsComparison) -> int:
    """Its line is a message, so that the document on stdout stays whole."""
    typer.echo(gate_words(found), err=True)
    return EXIT_GATE if found.worse else EXIT_DONE


def write_page(path: Path, text: str) -> None:
    """The page of `--html`."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise DynoError(
            "page_unwritable", f"--html {path}: cannot be written: {error.strerror}; choose another"
        ) from None
