"""Puts the page of a calibration together: the verdicts first, then what they rest on."""

from __future__ import annotations

from pathlib import Path

from dbdyno.analysis.calibration.findings import Calibration
from dbdyno.report.calibration.ceilings import sentence as ceiling_sentence
from dbdyno.report.calibration.files import files_sentence
from dbdyno.report.calibration.fragment import fragment
from dbdyno.report.calibration.guarded import sentence as guarded_sentence
from dbdyno.report.calibration.words import (
    QUALITIES,
    calibrate_io_loads,
    directory_of,
    growing_sentence,
    measured_words,
    notes_of,
    rested_sentence,
)
from dbdyno.report.html.calibration import (
    burst,
    cache_map,
    curve,
    database,
    flushes,
    heat_maps,
    in_words,
    mixing,
    sizes,
)
from dbdyno.report.html.document import rendered


def write(calibration: Calibration, path: Path) -> None:
    """The page as a file."""
    path.write_text(page(calibration), encoding="utf-8")


def page(calibration: Calibration) -> str:
    """The whole calibration as one self-contained HTML text."""
    possible = {
        "latencies": heat_maps.chart(calibration),
        "curve": curve.chart(calibration),
        "cache": cache_map.chart(calibration),
        "sizes": sizes.chart(calibration),
        "burst": burst.chart(calibration),
        "flush": flushes.chart(calibration),
        "mixed": mixing.chart(calibration),
        "database": database.chart(calibration),
    }
    named = {name: chart for name, chart in possible.items() if chart is not None}
    return rendered(
        "calibration.html.j2",
        list(named.values()),
        named=named,
        places={name: place for place, name in enumerate(named, 1)},
        missing=MISSING,
        calibration=calibration,
        directory=directory_of(calibration),
        quality=QUALITIES.get(calibration.quality, calibration.quality),
        summary=measured_words(calibration),
        idle=in_words.idle_table(calibration),
        rested=rested_sentence(calibration),
        flush_growing=growing_sentence(calibration),
        modes=heat_maps.modes_table(calibration),
        modes_words=in_words.modes_words(calibration),
        figures_of_calibrate_io=in_words.calibrate_io_table(calibration),
        loads_of_calibrate_io=calibrate_io_loads(calibration),
        further_notes=notes_of(calibration, ""),
        database_tables=database.tables(calibration),
        ceilings=[ceiling_sentence(one) for one in calibration.ceilings],
        files=in_words.files_table(calibration),
        files_sentence=files_sentence(calibration) if calibration.files else "",
        guarded=guarded_sentence(calibration),
        settings="\n".join(fragment(calibration)),
        checks=in_words.checks_table(calibration),
        measured=in_words.measured(calibration),
    )


# What the page says in the place of a chart: its heading, and why it is not there.
MISSING = {
    "latencies": ("How long the reads took", "No read was recorded."),
    "curve": ("How the storage answers to load", "No load was measured."),
    "cache": ("Is there a cache in between?", "No cache was looked for."),
    "sizes": ("What larger reads bring", "No larger reads were measured."),
    "burst": ("What it gives for a while, and for good", "The device was not asked for all that it has."),
    "flush": ("What a commit costs", "No flush was measured: nothing here says what a commit costs."),
    "mixed": ("What writes do to reads", "No reads were made beside writes."),
    "database": (
        "The same storage through a database",
        "It was not measured through a database; dbdyno calibrate PATH --target embedded does that.",
    ),
}
