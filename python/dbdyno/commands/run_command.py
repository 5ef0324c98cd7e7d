"""`dbdyno run`: carry an experiment out, print its answer, leave a run directory and a report behind."""

from __future__ import annotations

import dataclasses
import datetime
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from dbdyno import experiments
from dbdyno.commands.progress import StderrProgress
from dbdyno.commands.report_command import findings_of, print_report, write_html
from dbdyno.design.experiment import Experiment, load_experiment
from dbdyno.errors import EXIT_INTERRUPTED, DynoError
from dbdyno.runner import run as runner
from dbdyno.runner.servers import open_servers
from dbdyno.store import run_directory
from dbdyno.targets.open import TargetRequest


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
    seed: int | None = typer.Option(None, "--seed", metavar="N", min=0, help="Makes the schedule repeatable."),
    sampling_budget: float | None = typer.Option(
        None, "--sampling-budget", metavar="SHARE", help="Share of the host's CPU for watching the server (0.01)."
    ),
    stacks: bool = typer.Option(False, "--stacks", help="Record the stacks of the clients' backends as well."),
    out: Path | None = typer.Option(None, "--out", metavar="RUN_DIR", help="The run directory, new or empty."),
    as_json: bool = typer.Option(False, "--json", help="Print the findings as one JSON document."),
) -> None:
    """Run an experiment and say what it shows."""
    where = TargetRequest(
        target, allow_write=allow_write, allow_checkpoint=allow_checkpoint, server_bin=server_bin, data_dir=data_dir
    )
    if resume is not None:
        _refuse_with_resume(
            experiment=experiment,
            blocks=blocks,
            quick=quick or None,
            seed=seed,
            sampling_budget=sampling_budget,
            stacks=stacks or None,
            out=out,
        )
        directory = resume
        _resume(directory, where)
    elif experiment is not None:
        loaded = _load(experiments.find(experiment), quick=quick, blocks=blocks)
        loaded = dataclasses.replace(loaded, stacks=stacks)
        if sampling_budget is not None:
            loaded = dataclasses.replace(loaded, sampling_budget=_checked_budget(sampling_budget))
        chosen_seed = secrets.randbelow(2**31) if seed is None else seed
        directory = out or _default_directory(loaded, chosen_seed)
        _start(runner.Request(loaded, directory, chosen_seed), where)
    else:
        raise DynoError("no_experiment", "EXPERIMENT: is missing; dbdyno list shows the shipped ones")
    findings = findings_of(directory)
    write_html(directory, findings)
    print_report(directory, findings, as_json=as_json)


def _load(path: Path, *, quick: bool, blocks: int | None) -> Experiment:
    """The experiment at `path`; a copy in a run directory keeps the name that it was run by."""
    loaded = load_experiment(path, quick=quick, blocks=blocks)
    return dataclasses.replace(loaded, name=run_directory.original_name(path) or loaded.name)


def _checked_budget(share: float) -> float:
    """Above one half of the host the sampler would be the load."""
    if not 0 < share <= 0.5:
        raise DynoError(
            "sampling_budget",
            f"--sampling-budget {share:g}: must be above 0 and at most 0.5, a share of the host's CPU",
        )
    return share


def _start(request: runner.Request, where: TargetRequest) -> None:
    run_directory.check_usable(request.directory)
    with (
        _resumable(request.directory),
        StderrProgress() as progress,
        open_servers(where, request.experiment) as servers,
    ):
        runner.start(request, servers, progress)


def _resume(directory: Path, where: TargetRequest) -> None:
    experiment = runner.experiment_of(directory)
    with _resumable(directory), StderrProgress() as progress, open_servers(where, experiment) as servers:
        runner.resume(directory, servers, progress)


@contextmanager
def _resumable(directory: Path) -> Iterator[None]:
    """Tells somebody who pressed Ctrl-C how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        raise DynoError(
            "interrupted", f"interrupted; go on with dbdyno run --resume {directory}", exit_code=EXIT_INTERRUPTED
        ) from None


def _refuse_with_resume(**flags: object) -> None:
    for name, value in flags.items():
        if value is not None:
            flag = "EXPERIMENT" if name == "experiment" else f"--{name.replace('_', '-')}"
            raise DynoError(
                "flag_conflict", f"{flag} {value}: is kept in the run directory; leave it out with --resume"
            )


def _default_directory(experiment: Experiment, seed: int) -> Path:
    moment = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%SZ")
    return Path("dbdyno-runs") / f"{experiment.name}-{moment}-{seed}"
