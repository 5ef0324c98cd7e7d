"""What `dbdyno run` does: start a run or go on with one, then report it."""

from __future__ import annotations

import dataclasses
import datetime
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from dbdyno import experiments
from dbdyno.analysis.stopping import decided_early
from dbdyno.commands.ledger import add_to_ledger
from dbdyno.commands.progress import StderrProgress
from dbdyno.commands.reporting import findings_of, print_report, write_html
from dbdyno.design.asked import DEFAULT_SAMPLING_BUDGET, Asked
from dbdyno.design.experiment import Experiment, load_experiment
from dbdyno.errors import EXIT_INTERRUPTED, DynoError
from dbdyno.runner import run as runner
from dbdyno.runner.resuming import experiment_of
from dbdyno.runner.servers import open_servers
from dbdyno.store import run_directory
from dbdyno.targets.open import TargetRequest


@dataclasses.dataclass(frozen=True, slots=True)
class Flags:
    """Those of the command that a run directory keeps."""

    blocks: int | None
    quick: bool
    until_decided: bool
    null_arm: bool
    all_pairs: bool
    seed: int | None
    sampling_budget: float | None
    stacks: bool
    out: Path | None
    scale: int | None = None

    def given(self) -> dict[str, object]:
        """Those that were given, by name."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {name: value for name, value in fields.items() if value is not None and value is not False}

    def asked(self) -> Asked:
        """What they change about the experiment."""
        budget = DEFAULT_SAMPLING_BUDGET if self.sampling_budget is None else _checked_budget(self.sampling_budget)
        return Asked(
            self.quick,
            self.blocks,
            self.until_decided,
            self.null_arm,
            self.all_pairs,
            self.stacks,
            budget,
            self.scale,
        )


def run(experiment: str | None, resume: Path | None, where: TargetRequest, flags: Flags, *, as_json: bool) -> None:
    """One run from its experiment, or its directory, to the report."""
    if resume is not None:
        _refuse_with_resume({**({"experiment": experiment} if experiment else {}), **flags.given()})
        directory = resume
        _resume(directory, where)
    elif experiment is not None:
        loaded = load(experiments.find(experiment), flags.asked())
        chosen_seed = secrets.randbelow(2**31) if flags.seed is None else flags.seed
        directory = flags.out or default_directory(loaded, chosen_seed)
        start_run(runner.Request(loaded, directory, chosen_seed), where)
    else:
        raise DynoError("no_experiment", "EXPERIMENT: is missing; dbdyno list shows the shipped ones")
    findings = findings_of(directory)
    if findings.null_arm is not None:
        add_to_ledger(findings.machine["host"], findings.run_id, findings.started_at, findings.null_arm)
    write_html(directory, findings)
    print_report(directory, findings, as_json=as_json)


def load(path: Path, asked: Asked) -> Experiment:
    """The experiment at `path`; a copy in a run directory keeps the name that it was run by."""
    loaded = load_experiment(path, asked)
    return dataclasses.replace(loaded, name=run_directory.original_name(path) or loaded.name)


def _checked_budget(share: float) -> float:
    """Above one half of the host the sampler would be the load."""
    if not 0 < share <= 0.5:
        raise DynoError(
            "sampling_budget",
            f"--sampling-budget {share:g}: must be above 0 and at most 0.5, a share of the host's CPU",
        )
    return share


def start_run(request: runner.Request, where: TargetRequest) -> None:
    """Run it into its directory, with progress on stderr."""
    run_directory.check_usable(request.directory)
    with (
        _resumable(request.directory),
        StderrProgress() as progress,
        open_servers(where, request.experiment) as servers,
    ):
        runner.start(request, servers, progress, decided_early)


def _resume(directory: Path, where: TargetRequest) -> None:
    experiment = experiment_of(directory)
    with _resumable(directory), StderrProgress() as progress, open_servers(where, experiment) as servers:
        runner.resume(directory, servers, progress, decided_early)


@contextmanager
def _resumable(directory: Path) -> Iterator[None]:
    """Tells somebody who pressed Ctrl-C how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        raise DynoError(
            "interrupted", f"interrupted; go on with dbdyno run --resume {directory}", exit_code=EXIT_INTERRUPTED
        ) from None


def _refuse_with_resume(given: Mapping[str, object]) -> None:
    for name, value in given.items():
        flag = "EXPERIMENT" if name == "experiment" else f"--{name.replace('_', '-')}"
        raise DynoError("flag_conflict", f"{flag} {value}: is kept in the run directory; leave it out with --resume")


def default_directory(experiment: Experiment, seed: int, kind: str = "") -> Path:
    """Where a run goes that was not told where to; `kind` tells a pilot from a run."""
    moment = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%SZ")
    return Path("dbdyno-runs") / "-".join(filter(None, [experiment.name, kind, moment, str(seed)]))
