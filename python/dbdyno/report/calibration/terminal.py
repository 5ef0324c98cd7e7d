"""A storage calibration on a terminal: the answer first, then the figures, then what to type next.

80 columns; in colour estimates are bold and bounds faint, and without colour not a word is lost.
"""

from __future__ import annotations

import io
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from dbdyno.analysis.calibration.findings import Calibration
from dbdyno.report.calibration.answer import answer
from dbdyno.report.calibration.calibrate_io import calibrate_io
from dbdyno.report.calibration.flushes import flushes, group_commit, no_flushes
from dbdyno.report.calibration.fragment import confirmation, fragment
from dbdyno.report.calibration.latencies import cache_map, idle, modes
from dbdyno.report.calibration.loads import loads
from dbdyno.report.calibration.pylatencymap import command
from dbdyno.report.calibration.sizes import burst, sizes
from dbdyno.report.calibration.trust import checks, warnings
from dbdyno.report.calibration.words import directory_of
from dbdyno.report.layout import WIDTH
from dbdyno.report.sections.arms import title

# What a longer measurement would be called.
LONGER = {"quick": "standard", "standard": "full"}


def render(
    calibration: Calibration,
    width: int = WIDTH,
    *,
    directory: str | None = None,
    page: str | None = None,
    records: str | None = None,
) -> str:
    """The whole report as plain text; tables are made for 80 columns."""
    out = io.StringIO()
    console = Console(file=out, width=max(width, WIDTH), color_system=None)
    print_calibration(calibration, console, directory=directory, page=page, records=records)
    return out.getvalue()


def print_calibration(
    calibration: Calibration,
    console: Console,
    *,
    directory: str | None = None,
    page: str | None = None,
    records: str | None = None,
) -> None:
    """Print the report.

    Args:
        calibration: what the analysis concludes.
        console: where to; colour only if it is a terminal.
        directory: where the calibration is saved, for the last lines.
        page: the path of the HTML page, if there is one.
        records: the path of the records for PyLatencyMap, if they were written.
    """
    for line in [*_lines(calibration), *_next(calibration, directory, page, records)]:
        line.rstrip()
        console.print(line, highlight=False, soft_wrap=True)


def _lines(calibration: Calibration) -> Iterator[Text]:
    yield from answer(calibration)
    for section in (
        idle(calibration),
        loads(calibration),
        modes(calibration),
        cache_map(calibration),
        sizes(calibration),
        burst(calibration),
        flushes(calibration),
        group_commit(calibration),
        no_flushes(calibration),
        calibrate_io(calibration),
        _settings(calibration),
        checks(calibration),
        warnings(calibration),
    ):
        if section:
            yield Text()
            yield from section
    yield Text()


def _settings(calibration: Calibration) -> list[Text]:
    """The lines as they would stand in the file, so that they can be copied."""
    lines = fragment(calibration)
    if not lines:
        return []
    styled = [Text(line, style="dim" if line.startswith("# ") else "bold") for line in lines]
    return [*title("For postgresql.conf"), *styled]


def _next(calibration: Calibration, directory: str | None, page: str | None, records: str | None) -> Iterator[Text]:
    yield from title("What next")
    longer = LONGER.get(calibration.budget)
    if longer is not None:
        yield Text("To know it better:", style="dim")
        yield Text(f"dbdyno calibrate {directory_of(calibration)} --budget {longer}")
    experiments = [one for one in calibration.settings if one.confirm is not None]
    if experiments:
        yield Text("Before a setting is kept, its experiment asks the server itself:", style="dim")
        for command_line in dict.fromkeys(confirmation(setting, directory) for setting in experiments):
            yield Text(command_line)
    over_time = next((one for one in calibration.heat_maps if one.step_ns is not None), None)
    if records is not None and over_time is not None:
        yield Text("To play the response times back in the terminal (pip install PyLatencyMap):", style="dim")
        yield Text(command(over_time, records))
    if page is not None:
        yield Text("Page:        ").append(page)
    if directory is not None:
        yield Text("Calibration: ").append(directory)
