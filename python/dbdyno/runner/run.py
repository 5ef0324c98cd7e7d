"""Start a run or go on with one: measure and build what its trials need, then run them."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dbdyno import engine
from dbdyno.design.experiment import Experiment
from dbdyno.design.schedule import Place
from dbdyno.probes.machine import machine_record
from dbdyno.runner.candidates import Found, find_candidates, with_candidates
from dbdyno.runner.fingerprint import Fingerprint, fingerprint
from dbdyno.runner.identical import refuse_identical_arms
from dbdyno.runner.instrument import instrument_record
from dbdyno.runner.loop import DecidedEarly, Progress, run_trials
from dbdyno.runner.numbers import ask_numbers
from dbdyno.runner.peer_files import peer_files
from dbdyno.runner.prepare import Prepared, measure, prepare_arms
from dbdyno.runner.reset import reset_warnings
from dbdyno.runner.resuming import check_same_arms, check_same_place, experiment_of
from dbdyno.runner.run_record import run_record
from dbdyno.runner.schema import build_schema
from dbdyno.runner.servers import Servers
from dbdyno.runner.trial import run_trial
from dbdyno.runner.work import Circumstances
from dbdyno.store import null_arms, run_directory


@dataclasses.dataclass(frozen=True, slots=True)
class Request:
    """What the user asked for: the flags of `dbdyno run`."""

    experiment: Experiment
    directory: Path
    seed: int


def start(request: Request, servers: Servers, progress: Progress, decided_early: DecidedEarly) -> None:
    """Run an experiment from its beginning into a new run directory."""
    progress.stage("measuring the flush time")
    measured = measure(servers)
    taken = _fingerprint(servers, measured, progress)
    prepare_arms(request.experiment, servers, measured)  # what cannot run here is refused before a long build
    experiment, found = _build(request.experiment, servers, progress)
    prepared, left_out = prepare_arms(experiment, servers, measured)
    run_id = request.directory.resolve().name
    header = {
        **run_record(run_id, request.seed, experiment, servers, prepared, left_out, measured, found),
        "truth": _truth(experiment, servers),
    }
    opened = run_directory.create(request.directory, experiment.path, experiment.files, header)
    try:
        opened.append("machine", _machine(experiment, servers, measured, taken))
        with peer_files(experiment, servers.default, progress.stage) as files:
            bench = _OnServers(experiment, servers, prepared, request.seed, files)
            run_trials(opened, header, [], bench, progress, decided_early)
    finally:
        opened.close()


def resume(directory: Path, servers: Servers, progress: Progress, decided_early: DecidedEarly) -> None:
    """Go on with a run that was interrupted, with the experiment as it was copied then."""
    experiment = experiment_of(directory)
    stored, contents = run_directory.read(directory)
    run = stored.run
    opened = run_directory.resume(stored, contents)
    try:
        taken = _fingerprint(servers, {}, progress)  # the flush time is that of the run's beginning
        machine = _machine(experiment, servers, run["measured"], taken)
        check_same_place(stored.machine, machine, directory)
        opened.append("machine", machine)
        experiment, _ = _build(experiment, servers, progress)
        prepared, _ = prepare_arms(experiment, servers, run["measured"])
        check_same_arms(run, prepared, directory)
        with peer_files(experiment, servers.default, progress.stage) as files:
            bench = _OnServers(experiment, servers, prepared, run["seed"], files)
            run_trials(opened, run, stored.trials, bench, progress, decided_early)
    finally:
        opened.close()


def _build(experiment: Experiment, servers: Servers, progress: Progress) -> tuple[Experiment, Found]:
    """Build what the arms work on, and make those arms that are found in it."""
    progress.stage("building the schema")
    for target in servers.all:
        build_schema(experiment, target, progress.stage)
    found = find_candidates(experiment, servers.default)  # every server has the same schema
    complete = with_candidates(experiment, found)
    for target in servers.all:
        target.keep_template(needed=complete.resets("restore"))
        servers.settle(target)
    return complete, found


@dataclasses.dataclass(frozen=True, slots=True)
class _OnServers:
    """Runs trials on the servers of the experiment."""

    experiment: Experiment
    servers: Servers
    prepared: Sequence[Prepared]
    seed: int
    files: Mapping[str, Path]

    def run_trial(self, place: Place, live: engine.Watcher | None) -> dict[str, Any]:
        """One trial; after one that succeeded the server is left to settle."""
        arm = next(each for each in self.prepared if each.arm.name == place.arm)
        target = self.servers.of(arm.arm.server)
        record = run_trial(Circumstances(self.experiment, self.seed, self.files, live), target, arm, place)
        if record["status"] == "ok":
            self.servers.settle(target)
        return record

    def check(self, trials: Sequence[Mapping[str, Any]]) -> None:
        """Ends the run where two arms turned out to be one."""
        refuse_identical_arms(self.prepared, trials)


def _truth(experiment: Experiment, servers: Servers) -> dict[str, int | float]:
    """The right answers, of the tables as they were built."""
    if not experiment.truth:
        return {}
    with servers.default.connect() as connection:
        return ask_numbers(connection, "truth", experiment.truth)


def _fingerprint(servers: Servers, measured: Mapping[str, int], progress: Progress) -> Fingerprint:
    """Before the schema is built, whose writing goes on for a while."""
    taken = fingerprint(servers, measured, os.environ)
    for warning in taken.warnings:
        progress.notice(warning["message"])
    return taken


def _machine(
    experiment: Experiment, servers: Servers, measured: Mapping[str, int], taken: Fingerprint
) -> dict[str, Any]:
    record = machine_record(servers.all, measured)
    return {
        **record,
        "instrument": instrument_record(os.environ, record["host"]),
        "null_arms": null_arms.counted(os.environ, record["host"]),
        "fingerprint": taken.record,
        "warnings": [*record["warnings"], *taken.warnings, *reset_warnings(experiment, servers.all)],
    }
