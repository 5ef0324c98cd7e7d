"""`dbdyno report`: its flags. What it does is `reporting`, which is imported once they are known to be right."""

from __future__ import annotations

from pathlib import Path

import typer

from dbdyno.commands.band_option import BAND
from dbdyno.errors import DynoError


def report(
    directory: Path = typer.Argument(
        ...,
        metavar="RUN_DIR",
        help="A directory of dbdyno run, profile, calibrate or ndv, or an archive of dbdyno pack.",
    ),
    band: str | None = BAND,
    as_text: bool = typer.Option(False, "--text", help="Print the text report (the default)."),
    as_json: bool = typer.Option(False, "--json", help="Print the findings as one JSON document."),
    as_html: bool = typer.Option(False, "--html", help="Write the HTML page into the directory, print its path."),
    latency_map: Path | None = typer.Option(
        None, "--latency-map", metavar="FILE", help="Write a calibration's heat map for PyLatencyMap; - is stdout."
    ),
) -> None:
    """Show what a run or a profile found."""
    if as_text + as_json + as_html + (latency_map is not None) > 1:
        raise DynoError("flag_conflict", "--text, --json, --html, --latency-map: say different things; keep one")
    if as_html and directory.is_file():
        raise DynoError("flag_conflict", f"--html {directory}: is an archive; dbdyno unpack it first")
    from dbdyno.commands import reporting

    if latency_map is not None:
        reporting.write_latency_map(directory, latency_map)
        return
    reporting.report(directory, band, as_json=as_json, as_html=as_html)
