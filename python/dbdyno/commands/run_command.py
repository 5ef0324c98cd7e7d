"""`dbdyno run`: its flags. What it does is `running`, which is imported once they are known."""

from __future__ import annotations

from pathlib import Path

import typer


def run(
    experiment: str | None = typer.Argument(
        None, metavar="EXPERIMENT", help="A shipped name (dbdyno list) or the path of a TOML file."
    ),
    resume: Path | None = typer.Option(None, "--resume", metavar="RUN_DIR", help="Go on with an interrupted run."),
    target: str | None = typer.Option(
        None, "--target", metavar="URL", help="A postgres:// URL; without it an embedded PostgreSQL is started."
    ),
    allow_write: bool = typer.Option(
        False, "--allow-write", help="Allow writing to --target, in a schema of our own that is dropped again."
    ),
    allow_checkpoint: bool = typer.Option(
        False, "--allow-checkpoint", help="Allow CHECKPOINT on --target, which all its users feel."
    ),
    server_bin: Path | None = typer.Option(None, "--server-bin", metavar="DIR", help="PostgreSQL binaries to start."),
    data_dir: Path | None = typer.Option(
        None, "--data-dir", metavar="DIR", help="Where the embedded server keeps its data: the storage under test."
    ),
    blocks: int | None = typer.Option(
        None, "--blocks", metavar="N", min=1, max=1000, help="How often every arm is run."
    ),
    quick: bool = typer.Option(False, "--quick", help="The experiment's quick form."),
    scale: int | None = typer.Option(None, "--scale", metavar="N", min=1, help="Size of the data."),
    until_decided: bool = typer.Option(
        False, "--until-decided", help="Go on until every comparison is decided, for 60 blocks at most (or --blocks)."
    ),
    null_arm: bool = typer.Option(
        False, "--null-arm", help="Run a second copy of the baseline as well: a live check for false alarms."
    ),
    all_pairs: bool = typer.Option(
        False, "--all-pairs", help="Compare all arms of one baseline with each other, not only with it."
    ),
    seed: int | None = typer.Option(None, "--seed", metavar="N", min=0, help="Makes the schedule repeatable."),
    sampling_budget: float | None = typer.Option(
        None, "--sampling-budget", metavar="SHARE", help="Share of the host's CPU for watching the server (0.01)."
    ),
    stacks: bool = typer.Option(False, "--stacks", help="Record the stacks of the clients' backends as well."),
    out: Path | None = typer.Option(None, "--out", metavar="RUN_DIR", help="The run directory, new or empty."),
    as_json: bool = typer.Option(False, "--json", help="Print the findings as one JSON document."),
) -> None:
    """Run an experiment and say what it shows."""
    from dbdyno.commands import running
    from dbdyno.targets.open import TargetRequest

    where = TargetRequest(
        target, allow_write=allow_write, allow_checkpoint=allow_checkpoint, server_bin=server_bin, data_dir=data_dir
    )
    flags = running.Flags(blocks, quick, until_decided, null_arm, all_pairs, seed, sampling_budget, stacks, out, scale)
    running.run(experiment, resume, where, flags, as_json=as_json)
