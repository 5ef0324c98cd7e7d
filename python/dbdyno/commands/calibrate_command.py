"""`dbdyno calibrate`: its flags. What it does is `calibrating`, which is imported once they are known to be right."""

from __future__ import annotations

from pathlib import Path

import typer

from dbdyno.errors import DynoError

# As `calibration.guard_rule` and `attach.guard_session` have them, which are imported later.
GUARD_FACTOR, GUARD_STATEMENT = 3.0, "SELECT 1"

BUDGETS = ("quick", "standard", "full")
ENGINES = ("auto", "io_uring", "threads")


def calibrate(
    path: Path | None = typer.Argument(None, metavar="[PATH]", help="A directory on the storage in question."),
    budget: str = typer.Option("quick", "--budget", metavar="NAME", help="quick (1 min), standard (5) or full (30)."),
    file_size: float | None = typer.Option(
        None, "--file-size", metavar="GIB", min=0.0625, help="Of the file to measure."
    ),
    num_disks: int = typer.Option(1, "--num-disks", metavar="N", min=1, help="As CALIBRATE_IO takes it."),
    max_latency: float = typer.Option(20.0, "--max-latency", metavar="MS", min=0.001, help="As CALIBRATE_IO takes it."),
    engine: str = typer.Option("auto", "--engine", metavar="NAME", help=f"{', '.join(ENGINES)}."),
    target: str | None = typer.Option(
        None, "--target", metavar="URL", help="Measure through a database as well: embedded, or a postgres:// URL."
    ),
    allow_write: bool = typer.Option(
        False, "--allow-write", help="Allow writing to --target, in a schema of our own that is dropped again."
    ),
    read_only: list[Path] = typer.Option(
        [], "--read-only", metavar="FILE", help="Measure this file with reads only; may be repeated."
    ),
    guard: str | None = typer.Option(None, "--guard", metavar="URL", help="Stop when this PostgreSQL server suffers."),
    guard_factor: float = typer.Option(
        GUARD_FACTOR, "--guard-factor", metavar="X", min=1.0, help="How many times slower is too slow."
    ),
    guard_sql: str = typer.Option(GUARD_STATEMENT, "--guard-sql", metavar="SQL", help="What the guard asks."),
    byte_budget: float | None = typer.Option(
        None, "--byte-budget", metavar="GIB", min=0.0625, help="The most to read and write in all."
    ),
    expect_iops: float | None = typer.Option(
        None, "--expect-iops", metavar="N", min=1, help="What the device should reach, 8 KiB each."
    ),
    expect_mbps: float | None = typer.Option(
        None, "--expect-mbps", metavar="N", min=0.001, help="What it should reach, in 10^6 bytes a second."
    ),
    seed: int | None = typer.Option(None, "--seed", metavar="N", min=0, help="Of orders and places."),
    out: Path | None = typer.Option(None, "--out", metavar="DIR", help="The calibration's directory, new or empty."),
    as_json: bool = typer.Option(False, "--json", help="Print the findings as one JSON document."),
) -> None:
    """Measure what the storage under a directory can do, and which settings follow."""
    for flag, value, known in (("--budget", budget, BUDGETS), ("--engine", engine, ENGINES)):
        if value not in known:
            raise DynoError("bad_choice", f"{flag} {value}: not one; use one of {', '.join(known)}")
    if read_only and (path is not None or file_size is not None):
        other = f"PATH {path}" if path is not None else f"--file-size {file_size:g}"
        raise DynoError("flag_conflict", f"--read-only {read_only[0]}: measures what is there; leave out {other}")
    if target is not None and (read_only or byte_budget is not None):
        other = "--read-only" if read_only else "--byte-budget"
        raise DynoError("flag_conflict", f"--target: builds a table and writes it; leave out {other}")
    if guard is None and (guard_factor, guard_sql) != (GUARD_FACTOR, GUARD_STATEMENT):
        raise DynoError("flag_conflict", "--guard-factor, --guard-sql: say how to guard; give --guard URL as well")
    from dbdyno.calibration.database.server import Wanted
    from dbdyno.commands import calibrating, calibrating_files
    from dbdyno.commands.guarding import GuardWish

    wish = calibrating.Wish(
        budget,
        file_size,
        num_disks,
        max_latency,
        engine,
        seed,
        byte_budget_gib=byte_budget,
        expect_iops=expect_iops,
        expect_mbps=expect_mbps,
        guard=None if guard is None else GuardWish(guard, guard_factor, guard_sql),
        target=None if target is None else Wanted(target, allow_write),
    )
    if read_only:
        calibrating_files.calibrate_files(read_only, wish, out=out, as_json=as_json)
    else:
        calibrating.calibrate(path or Path(), wish, out=out, as_json=as_json)
