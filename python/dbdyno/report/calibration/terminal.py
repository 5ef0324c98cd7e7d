"""A storage calibration on a terminal: the answer first, then the figures, then what to type next.

80 columns; in colour estimates are bold and bounds faint, and without colour not a word is lost.
"""

from __future__ import annotations

import io
import shlex
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from dbdyno.analysis.calibration.findings import Calibration
from dbdyno.analysis.calibrations_compared.findings import Earlier
from dbdyno.report.calibration.answer import answer
from dbdyno.report.calibration.calibrate_io import calibrate_io
from dbdyno.report.calibration.ceilings import ceilings
from dbdyno.report.calibration.database import database
from dbdyno.report.calibration.earlier import earlier as spread
from dbdyno.report.calibration.files import files
from dbdyno.report.calibration.flushes import flushes, group_commit, no_flushes
from dbdyno.report.calibration.fragment import confirmation, fragment
from dbdyno.report.calibration.guarded import guarded
from dbdyno.report.calibration.latencies import cache_map, idle, modes
from dbdyno.report.calibration.loads import loads
from dbdyno.report.calibration.mixing import mixed
from dbdyno.report.calibration.pylatencymap import over_time
from dbdyno.report.calibration.sizes import burst, sizes
from dbdyno.report.calibration.trust import checks, warnings
from dbdyno.report.calibration.words import arguments_of
from dbdyno.report.calibrations_compared.words import typed
from dbdyno.report.layout import WIDTH
from dbdyno.report.sections.arms import title

# What a longer measurement would be called.
LONGER = {"quick": "standard", "standard": "full"}
# Of earlier calibrations so many are named: with more, what is usual is hardly known better.
MOST_EARLIER = 9


def render(
    calibration: Calibration,
    width: int = WIDTH,
    *,
    directory: str | None = None,
    page: str | None = None,
) -> str:
    """The whole report as plain text; tables are made for 80 columns."""
    out = io.StringIO()
    console = Console(file=out, width=max(width, WIDTH), color_system=None)
    print_calibration(calibration, console, directory=directory, page=page)
    return out.getvalue()


def print_calibration(
    calibration: Calibration,
    console: Console,
    *,
    directory: str | None = None,
    page: str | None = None,
    earlier: Sequence[Earlier] = (),
) -> None:
    """Print the report.

    Args:
        calibration: what the analysis concludes.
        console: where to; colour only if it is a terminal.
        directory: where the calibration is saved, for the last lines.
        page: the path of the HTML page, if there is one.
        earlier: calibrations of the same storage that were made before, the latest last.
    """
    before = spread(calibration, earlier)
    known = [*_lines(calibration), *before, *([Text()] if before else [])]
    for line in [*known, *_next(calibration, directory, page), *_compare(directory, earlier)]:
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
        mixed(calibration),
        files(calibration),
        database(calibration),
        calibrate_io(calibration),
        ceilings(calibration),
        _settings(calibration),
        checks(calibration),
        guarded(calibration),
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


def _next(calibration: Calibration, directory: str | None, page: str | None) -> Iterator[Text]:
    yield from title("What next")
    longer = LONGER.get(calibration.budget)
    if longer is not None:
        yield Text("To know it better:", style="dim")
        yield Text(f"dbdyno calibrate {arguments_of(calibration)} --budget {longer}")
    experiments = [one for one in calibration.settings if one.confirm is not None]
    if experiments:
        yield Text("Before a setting is kept, its experiment asks the server itself:", style="dim")
        for command_line in dict.fromkeys(confirmation(setting, directory) for setting in experiments):
            yield Text(command_line)
    if directory is not None and over_time(calibration.heat_maps) is not None:
        yield Text("To play the response times back in the terminal (pip install PyLatencyMap):", style="dim")
        yield Text(f"dbdyno report {shlex.quote(directory)} --latency-map latencies.txt")
    if page is not None:
        yield Text("Page:        ").append(page)
    if directory is not None:
        yield Text("Calibration: ").append(directory)


def _compare(directory: str | None, earlier: Sequence[Earlier]) -> Iterator[Text]:
    """Whether this is another disk than it was: the earlier ones say what is usual."""
    if directory is not None and earlier:
        yield Text("Whether the disk changed since the last time:", style="dim")
        yield from map(Text, typed([*(one.directory for one in earlier[-MOST_EARLIER:]), directory]))
