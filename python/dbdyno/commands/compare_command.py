"""`dbdyno compare`: what changed from one saved measurement to another, with no database.

What is compared depends on what they are: profiles in `comparing_profiles`, runs in `comparing_runs`, calibrations in
`comparing_calibrations`; two different kinds have no comparison.
"""

from __future__ import annotations

from pathlib import Path

import typer

from dbdyno.errors import DynoError
from dbdyno.store import calibration_directory, journal, profile_directory

PROFILE, RUN, CALIBRATION = "a profile", "a run", "a calibration"
# Of calibrations; a run has its own. In per cent.
MARGIN = 5.0


def compare(
    places: list[Path] = typer.Argument(
        ...,
        metavar="A B...",
        help="Run directories or archives of them, or calibrations, two or more; or two directories of profiles.",
    ),
    gate: bool = typer.Option(False, "--gate", help="Two runs, or calibrations: exit with 3 if the later is worse."),
    html: Path | None = typer.Option(None, "--html", metavar="FILE", help="Write a page with charts to FILE."),
    margin: float | None = typer.Option(
        None, "--margin", metavar="PERCENT", min=0.1, help="Calibrations: a smaller change does not matter (5)."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print the comparison as one JSON document."),
) -> int:
    """Say what changed from A to B, or along many runs."""
    if len(places) < 2:
        raise DynoError("one_to_compare", f"{places[0]}: is alone; name what it is to be compared with")
    kinds = list(map(kind_of, places))
    for place, kind in zip(places[1:], kinds[1:], strict=True):
        if kind != kinds[0]:
            raise DynoError("mixed_kinds", f"{place}: is {kind} and {places[0]} {kinds[0]}; compare those of one kind")
    if html is not None and html.suffix != ".html":
        raise DynoError("bad_page", f"--html {html}: is no name for a page; name a file that ends in .html")
    if kinds[0] == CALIBRATION:
        from dbdyno.commands import comparing_calibrations

        share = (MARGIN if margin is None else margin) / 100
        return comparing_calibrations.compare(places, gate=gate, html=html, as_json=as_json, margin=share)
    if margin is not None:
        raise DynoError(
            "flag_conflict", f"--margin {margin:g}: is for calibrations; a run has the margin of its experiment"
        )
    if kinds[0] == RUN:
        from dbdyno.commands import comparing_runs

        return comparing_runs.compare(places, gate=gate, html=html, as_json=as_json)
    if gate or html is not None:
        flag = "--gate" if gate else "--html"
        raise DynoError(
            "flag_conflict", f"{flag}: is for runs and calibrations; a profile has no verdict and no interleaved arms"
        )
    if len(places) > 2:
        raise DynoError("many_profiles", f"{places[2]}: is a third profile; compare takes two, or runs")
    from dbdyno.commands import comparing_profiles

    return comparing_profiles.compare(places[0], places[1], as_json=as_json)


def kind_of(directory: Path) -> str:
    """What a directory, or an archive, was made by."""
    if directory.is_dir() and profile_directory.is_profile(directory):
        return PROFILE
    if directory.is_dir() and calibration_directory.is_calibration(directory):
        return CALIBRATION
    if directory.is_file() or (directory / journal.FILE_NAME).exists():
        return RUN
    raise DynoError(
        "not_comparable",
        f"{directory}: holds no run and no profile; name what dbdyno run, pack, profile or calibrate made",
    )
