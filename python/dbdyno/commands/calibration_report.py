"""The findings of a saved calibration: printed, as one document, as a page. Shared by `calibrate` and `report`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from dbdyno.analysis.calibration.analyse import analyse
from dbdyno.analysis.calibration.findings import Calibration
from dbdyno.analysis.calibrations_compared.findings import Earlier
from dbdyno.analysis.calibrations_compared.kept import kept
from dbdyno.analysis.calibrations_compared.record import alike
from dbdyno.errors import DynoError
from dbdyno.report.calibration import pylatencymap, terminal
from dbdyno.report.calibration.confirming import experiments
from dbdyno.report.html.calibration import page
from dbdyno.store import calibration_directory, kept_calibrations, record_file


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


def earlier(directory: Path, found: Calibration) -> list[Earlier]:
    """The kept calibrations of this storage that were measured before, in the same way, the latest last."""
    return [
        kept(str(place), document)
        for place, document in kept_calibrations.findings()
        if place.resolve() != directory.resolve()
        and document["measured_at"] <= found.measured_at
        and alike(document, found.document)
    ]


def write_latency_map(found: Calibration, path: Path) -> None:
    """The records for PyLatencyMap; of a file the command that plays them is printed, `-` is stdout itself."""
    heat_map = pylatencymap.over_time(found.heat_maps)
    if heat_map is None:
        raise DynoError("no_heat_map", "--latency-map: this calibration has no response times over time")
    text = pylatencymap.records(heat_map, found.measured_at, "dbdyno calibrate")
    if path == Path("-"):
        typer.echo(text, nl=False)
        return
    record_file.write(path, text.encode())
    typer.echo(pylatencymap.command(heat_map, str(path)))


def print_calibration(directory: Path, found: Calibration, *, as_json: bool, earlier: Sequence[Earlier] = ()) -> None:
    """The findings on stdout; in text the last lines say what to type next."""
    if as_json:
        typer.echo(json.dumps(found.document, allow_nan=False, ensure_ascii=False, indent=1))
        return
    written = directory / calibration_directory.PAGE
    shown = str(written) if written.exists() else None
    terminal.print_calibration(found, Console(), directory=str(directory), page=shown, earlier=earlier)
