"""What `dbdyno report` does: the findings of a run, of an archive of one or of a profile, with no database."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from pathlib import Path

import typer
from rich.console import Console

from dbdyno.analysis.analyse import analyse
from dbdyno.analysis.bands import SLOWEST, Share
from dbdyno.analysis.findings import Findings
from dbdyno.commands import profile_report
from dbdyno.commands.band_option import share
from dbdyno.errors import DynoError
from dbdyno.report import html, json_report, terminal
from dbdyno.store import calibration_directory, ndv_directory, profile_directory, run_directory, unpack


def report(directory: Path, band: str | None, *, as_json: bool, as_html: bool) -> None:
    """Show what was found; the flags are those of the command."""
    if profile_directory.is_profile(directory):
        if band is not None:
            raise DynoError("flag_conflict", f"--band {band}: is for the units of a run; a profile has none")
        _report_profile(directory, as_json=as_json, as_html=as_html)
        return
    if calibration_directory.is_calibration(directory):
        if band is not None:
            raise DynoError("flag_conflict", f"--band {band}: is for the units of a run; a calibration has none")
        _report_calibration(directory, as_json=as_json, as_html=as_html)
        return
    if counts := ndv_directory.counts_in(directory):
        if band is not None:
            raise DynoError("flag_conflict", f"--band {band}: is for the units of a run; a count has none")
        _report_counts(counts, as_json=as_json, as_html=as_html)
        return
    slow = SLOWEST if band is None else share(band)
    if not directory.exists():
        raise DynoError(
            "no_run", f"{directory}: no such directory; name one that dbdyno run, profile, calibrate or ndv made"
        )
    findings = findings_of(directory, slow=slow)
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


def _report_calibration(directory: Path, *, as_json: bool, as_html: bool) -> None:
    from dbdyno.commands import calibration_report

    found = calibration_report.findings_of(calibration_directory.read_record(directory))
    if as_html:
        typer.echo(calibration_report.write_page(directory, found))
    else:
        calibration_report.print_calibration(directory, found, as_json=as_json)


def _report_counts(directories: Sequence[Path], *, as_json: bool, as_html: bool) -> None:
    from dbdyno.commands import ndv_report

    records = [(directory, ndv_directory.read_record(directory)) for directory in directories]
    records.sort(key=lambda one: str(one[1]["measured_at"]))
    counts = [(one, ndv_report.findings_of(record)) for one, record in records]
    if as_html:
        for directory, found in counts:
            typer.echo(ndv_report.write_page(directory, found))
        return
    ndv_report.print_counts(counts, as_json=as_json)


def write_latency_map(directory: Path, path: Path) -> None:
    """The records of a calibration for PyLatencyMap, into a file or, for `-`, to stdout."""
    if not calibration_directory.is_calibration(directory):
        raise DynoError("no_calibration", f"--latency-map: {directory} is no calibration; name one")
    from dbdyno.commands import calibration_report

    found = calibration_report.findings_of(calibration_directory.read_record(directory))
    calibration_report.write_latency_map(found, path)


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


def findings_of(directory: Path, *, slow: Share = SLOWEST) -> Findings:
    """Read, verify and analyse a run directory, or an archive of one; `slow` are the units that the tail explains."""
    archived = directory.is_file()
    stored = unpack.read(directory) if archived else run_directory.read(directory)[0]
    # What was read has no cycles and stays to the end: searching it for some took half of the time of an analysis.
    gc.freeze()
    if not any(trial["status"] == "ok" for trial in stored.trials):
        next_step = f"dbdyno unpack {directory}, then resume it" if archived else f"dbdyno run --resume {directory}"
        raise DynoError("nothing_measured", f"{directory}: holds no finished trial yet; {next_step}")
    return analyse(stored.run, stored.machine, stored.trials, slow=slow)
