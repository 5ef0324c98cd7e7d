"""`dbdyno plan`: its flags. What it does is `planning`, which is imported once they are known."""

from __future__ import annotations

from pathlib import Path

import typer


def plan(
    experiment: str = typer.Argument(
        ..., metavar="EXPERIMENT", help="A shipped name (dbdyno list) or the path of a TOML file."
    ),
    pilot: bool = typer.Option(
        False, "--pilot", help="Run 8 blocks of it, and say how long a run takes and what it can tell here."
    ),
    target: str | None = typer.Option(None, "--target", metavar="URL", help="For the pilot: as for dbdyno run."),
    allow_write: bool = typer.Option(False, "--allow-write", help="For the pilot: as for dbdyno run."),
    allow_checkpoint: bool = typer.Option(False, "--allow-checkpoint", help="For the pilot: as for dbdyno run."),
    server_bin: Path | None = typer.Option(
        None, "--server-bin", metavar="DIR", help="For the pilot: PostgreSQL binaries to start."
    ),
    data_dir: Path | None = typer.Option(
        None, "--data-dir", metavar="DIR", help="For the pilot: where the embedded server keeps its data."
    ),
    blocks: int | None = typer.Option(None, "--blocks", metavar="N", min=1, max=1000, help="As for dbdyno run."),
    quick: bool = typer.Option(False, "--quick", help="As for dbdyno run."),
    scale: int | None = typer.Option(None, "--scale", metavar="N", min=1, help="As for dbdyno run."),
    until_decided: bool = typer.Option(False, "--until-decided", help="As for dbdyno run."),
    null_arm: bool = typer.Option(False, "--null-arm", help="As for dbdyno run."),
    all_pairs: bool = typer.Option(False, "--all-pairs", help="As for dbdyno run."),
    seed: int = typer.Option(1, "--seed", metavar="N", min=0, help="Of the schedule; 1 unless given."),
    out: Path | None = typer.Option(None, "--out", metavar="RUN_DIR", help="The pilot's run directory, new or empty."),
    as_json: bool = typer.Option(False, "--json", help="Print the plan as one JSON document."),
) -> None:
    """Say what a run would do and what it could tell, before it starts."""
    from dbdyno.commands import planning
    from dbdyno.design.asked import Asked
    from dbdyno.targets.open import TargetRequest

    asked = Asked(quick, blocks, until_decided, null_arm, all_pairs, scale=scale)
    where = TargetRequest(
        target, allow_write=allow_write, allow_checkpoint=allow_checkpoint, server_bin=server_bin, data_dir=data_dir
    )
    planning.plan(experiment, asked, seed, where if pilot else None, out, as_json=as_json)
