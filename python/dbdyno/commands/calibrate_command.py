"""`dbdyno calibrate`: its flags. What it does is `calibrating`, which is imported once they are known to be right."""

from __future__ import annotations

from pathlib import Path

import typer

from dbdyno.errors import DynoError

BUDGETS = ("quick", "standard", "full")
ENGINES = ("auto", "io_uring", "threads")


def calibrate(
    path: Path = typer.Argument(Path(), metavar="[PATH]", help="A directory on the storage in question."),
    budget: str = typer.Option("quick", "--budget", metavar="NAME", help="quick (1 min), standard (5) or full (30)."),
    file_size: float | None = typer.Option(
        None, "--file-size", metavar="GIB", min=0.0625, help="Of the file to measure."
    ),
    num_disks: int = typer.Option(1, "--num-disks", metavar="N", min=1, help="As CALIBRATE_IO takes it."),
    max_latency: float = typer.Option(20.0, "--max-latency", metavar="MS", min=0.001, help="As CALIBRATE_IO takes it."),
    engine: str = typer.Option("auto", "--engine", metavar="NAME", help=f"{', '.join(ENGINES)}."),
    seed: int | None = typer.Option(None, "--seed", metavar="N", min=0, help="Of orders and places."),
    out: Path | None = typer.Option(None, "--out", metavar="DIR", help="The calibration's directory, new or empty."),
    as_json: bool = typer.Option(False, "--json", help="Print the findings as one JSON document."),
) -> None:
    """Measure what the storage under a directory can do, and which settings follow."""
    for flag, value, known in (("--budget", budget, BUDGETS), ("--engine", engine, ENGINES)):
        if value not in known:
            raise DynoError("bad_choice", f"{flag} {value}: not one; use one of {', '.join(known)}")
    from dbdyno.commands import calibrating

    calibrating.calibrate(
        path,
        calibrating.Wish(budget, file_size, num_disks, max_latency, engine, seed),
        out=out,
        as_json=as_json,
    )
