"""`dbdyno report`: the findings of a run directory, of an archive of one or of a profile, anew, with no database."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.console import Console

from dbdyno.analysis.analyse import analyse
from dbdyno.analysis.findings import Findings
from dbdyno.commands import profile_report
from dbdyno.errors import DynoError
from dbdyno.report import html, json_report, terminal
from dbdyno.store import profile_directory, run_directory, unpack


def report(
    directory: Path = typer.Argument(
        ..., metavar="RUN_DIR", help="A directory that dbdyno run or profile made, or an archive that pack made."
    ),
    as_text: bool = typer.Option(False, "--text", help="Print the text report (the default)."),
    as_json: bool = typer.Option(False, "--json", help="Print the findings as one JSON document."),
    as_html: bool = typer.Option(False, "--html", help="Write the HTML page into the directory, print its path."),
) -> None:
    """Show what a run or a profile found."""
    if as_text + as_json + as_html > 1:
        raise DynoError("flag_conflict", "--text, --json, --html: say different things; keep one")
    if as_html and directory.is_file():
        raise DynoError("flag_conflict", f"--html {directory}: is an archive; dbdyno unpack it first")
    if profile_directory.is_profile(directory):
        _report_profile(directory, as_json=as_json, as_html=as_html)
        return
    findings = findings_of(directory)
    if as_html:
        typer.echo(write_html(directory, findings))
    else:
        print_report(directory, findings, as_json=as_json)


def _report_profile(directory: Path, *, as_json: bool, as_html: bool) -> None:
    found = profile_report.findings_of(profile_directory.read_record(directory))
    if as_html:
        typer.echo(profile_report.write_page(directory, found))
    else:
        profile_report.print_profile(directory, found, as_json=as_json)


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
            archived=directory.is_file(),
            report=str(html_path) if html_path.exists() else None,
        )


def write_html(directory: Path, findings: Findings) -> Path:
    """Make `report.html` in the run directory."""
    return run_directory.write_report(directory, html.write_html(findings))


def findings_of(directory: Path) -> Findings:
    """Read, verify and analyse a run directory, or an archive of one."""
    archived = directory.is_file()
    stored = unpack.read(directory) if archived else run_directory.read(directory)[0]
    if not any(trial["status"] == "ok" for trial in stored.trials):
        next_step = f"dbdyno unpack {directory}, then resume it" if archived else f"dbdyno run --resume {directory}"
        raise DynoError("nothing_measured", f"{directory}: holds no finished trial yet; {next_step}")
    return analyse(stored.run, stored.machine, stored.trials)
