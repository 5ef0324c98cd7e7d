"""The findings of a saved calibration: printed, as one document, as a page. Shared by `calibrate` and `report`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from dbdyno.analysis.calibration.analyse import analyse
from dbdyno.analysis.calibration.findings import Calibration
from dbdyno.report.calibration import terminal
from dbdyno.report.calibration.confirming import experiments
from dbdyno.report.html.calibration import page
from dbdyno.store import calibration_directory


def findings_of(record: Mapping[str, Any]) -> Calibration:
    """What a record says; the same one says the same."""
    return analyse(record)


def write_calibration(directory: Path, found: Calibration) -> None:
    """The findings, the page and the experiments that would confirm the settings, beside the record."""
    calibration_directory.write_findings(directory, found.document)
    calibration_directory.write_experiments(directory, experiments(found.settings))
    write_page(directory, found)


def write_page(directory: Path, found: Calibration) -> Path:
    """The page, made anew."""
    return calibration_directory.write_page(directory, page(found))


def print_calibration(directory: Path, found: Calibration, *, as_json: bool) -> None:
    """The findings on stdout; in text the last lines say what to type next."""
    if as_json:
        typer.echo(json.dumps(found.document, allow_nan=False, ensure_ascii=False, indent=1))
        return
    written = directory / calibration_directory.PAGE
    shown = str(written) if written.exists() else None
    terminal.print_calibration(found, Console(), directory=str(directory), page=shown)
