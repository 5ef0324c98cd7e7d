"""`dbdyno report`: the findings of a run directory, computed anew, with no database."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.console import Console

from dbdyno.analysis.analyse import analyse
from dbdyno.analysis.findings import Findings
from dbdyno.errors import DynoError
from dbdyno.report import html, json_report, terminal
from dbdyno.store import run_directory


def report(
    directory: Path = typer.Argument(..., metavar="RUN_DIR", help="A directory that dbdyno run made."),
    as_text: bool = typer.Option(False, "--text", help="Print the text report (the default)."),
    as_json: bool = typer.Option(False, "--json", help="Print the findings as one JSON document."),
    as_html: bool = typer.Option(False, "--html", help="Write report.html into the run directory, print its path."),
) -> None:
    """Show what a run found."""
    if as_text + as_json + as_html > 1:
        raise DynoError("flag_conflict", "--text, --json, --html: say different things; keep one")
    findings = findings_of(directory)
    if as_html:
        typer.echo(write_html(directory, findings))
    else:
        print_report(directory, findings, as_json=as_json)


def print_report(directory: Path, findings: Findings, *, as_json: bool) -> None:
    """The findings on stdout."""
    if as_json:
        typer.echo(json_report.render(findings), nl=False)
    else:
        html_path = directory / run_directory.REPORT
        terminal.print_report(
            findings,
            Console(),
            run_directory=str(directory),
            report=str(html_path) if html_path.exists() else None,
        )


def write_html(directory: Path, findings: Findings) -> Path:
    """Make `report.html` in the run directory."""
    return run_directory.write_report(directory, html.write_html(findings))


def findings_of(directory: Path) -> Findings:
    """Read, verify and analyse a run directory."""
    stored, _ = run_directory.read(directory)
    if not any(trial["status"] == "ok" for trial in stored.trials):
        raise DynoError(
            "nothing_measured", f"{directory}: holds no finished trial yet; dbdyno run --resume {directory}"
        )
    return analyse(stored.run, stored.machine, stored.trials)
