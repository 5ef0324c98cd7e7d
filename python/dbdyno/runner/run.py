"""The schedule loop: start or resume a run, go through the places still pending, write each trial before the next."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from dbdyno import engine
from dbdyno.design.experiment import DEFAULT_SAMPLING_BUDGET, Experiment, load_experiment
from dbdyno.design.schedule import Place, schedule
from dbdyno.design.scripts import settings_in_script
from dbdyno.errors import EXIT_RUN_FAILED, DynoError
from dbdyno.probes.machine import machine_record
from dbdyno.runner.candidates import Found, find_candidates, index_record, with_candidates
from dbdyno.runner.fingerprint import Fingerprint, fingerprint
from dbdyno.runner.identical import refuse_identical_arms
from dbdyno.runner.instrument import instrument_record
from dbdyno.runner.pending import hopeless_arm, next_place, trials_left
from dbdyno.runner.prepare import LeftOut, Prepared, measure, prepare_arms
from dbdyno.runner.reset import reset_warnings
from dbdyno.runner.schema import build_schema
from dbdyno.runner.servers import Servers
from dbdyno.runner.trial import now, run_trial
from dbdyno.store import journal, run_directory


class Progress(Protocol):
    """Who wants to know how a run goes on."""

    def stage(self, what: str) -> None:
        """A step before the first trial."""

    def notice(self, what: str) -> None:
        """Something to know before the first trial, which stays in sight."""

    def trials_begin(self, done: int, left: int) -> None:
        """The first trial of this session starts; `done` were recorded before."""

    def trial_begins(self, place: Place) -> engine.Watcher | None:
        """The next trial starts; what is returned sees its work about once a second."""

    def trial_done(self, record: Mapping[str, Any], done: int, left: int) -> None:
        """One more trial is durable."""


@dataclasses.dataclass(frozen=True, slots=True)
class Request:
    """What the user asked for: the flags of `dbdyno run`."""

    experiment: Experiment
    directory: Path
    seed: int


def start(request: Request, servers: Servers, progress: Progress) -> None:
    """Run an experiment from its beginning into a new run directory."""
    progress.stage("measuring the flush time")
    measured = measure(servers)
    taken = _fingerprint(servers, measured, progress)
    prepare_arms(request.experiment, servers, measured)  # what cannot run here is refused before a long build
    experiment, found = _build(request.experiment, servers, progress)
    prepared, left_out = prepare_arms(experiment, servers, measured)
    header = _run_record(request, experiment, servers, prepared, left_out, measured, found)
    opened = run_directory.create(request.directory, experiment.path, experiment.files, header)
    try:
        opened.append("machine", _machine(experiment, servers, measured, taken))
        _loop(opened, experiment, servers, prepared, request.seed, [], progress)
    finally:
        opened.close()


def experiment_of(directory: Path) -> Experiment:
    """The experiment of an unfinished run, from the copies kept in its directory."""
    stored, _ = run_directory.read(directory)
    if stored.ended:
        raise DynoError("run_complete", f"--resume {directory}: is complete; dbdyno report shows it")
    run = stored.run
    loaded = load_experiment(run_directory.experiment_copy(stored), quick=run["quick"], blocks=run["blocks"])
    return dataclasses.replace(
        loaded,
        sampling_budget=run.get("sampling_budget", DEFAULT_SAMPLING_BUDGET),
        stacks=run.get("stacks", False),
    )


def resume(directory: Path, servers: Servers, progress: Progress) -> None:
    """Go on with a run that was interrupted, with the experiment as it was copied then."""
    experiment = experiment_of(directory)
    stored, contents = run_directory.read(directory)
    run = stored.run
    opened = run_directory.resume(stored, contents)
    try:
        taken = _fingerprint(servers, {}, progress)  # the flush time is that of the run's beginning
        machine = _machine(experiment, servers, run["measured"], taken)
        _check_same_place(stored.machine, machine, directory)
        opened.append("machine", machine)
        experiment, _ = _build(experiment, servers, progress)
        prepared, _ = prepare_arms(experiment, servers, run["measured"])
        _check_same_arms(run, prepared, directory)
        _loop(opened, experiment, servers, prepared, run["seed"], stored.trials, progress)
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


def _loop(
    opened: journal.Journal,
    experiment: Experiment,
    servers: Servers,
    prepared: list[Prepared],
    seed: int,
    trials: list[dict[str, Any]],
    progress: Progress,
) -> None:
    names = [each.arm.name for each in prepared]
    by_name = {each.arm.name: each for each in prepared}
    progress.trials_begin(len(trials), trials_left(names, experiment.blocks, seed, trials))
    try:
        while (place := next_place(names, experiment.blocks, seed, trials)) is not None:
            live = progress.trial_begins(place)
            arm = by_name[place.arm]
            target = servers.of(arm.arm.server)
            record = run_trial(experiment, target, arm, place, seed, live)
            opened.append("trial", record)
            trials.append(record)
            if record["status"] == "ok":
                servers.settle(target)
            progress.trial_done(record, len(trials), trials_left(names, experiment.blocks, seed, trials))
            _check_hope(trials, record)
            refuse_identical_arms(prepared, trials)
    except KeyboardInterrupt:
        opened.append("end", {"finished_at": now(), "reason": "interrupted"})
        raise
    except DynoError as error:
        if error.code != "run_unwritable":
            opened.append("end", {"finished_at": now(), "reason": error.message})
        raise
    opened.append("end", {"finished_at": now(), "reason": "complete"})


def _check_hope(trials: Sequence[Mapping[str, Any]], last: Mapping[str, Any]) -> None:
    if hopeless_arm(trials) is not None:
        raise DynoError("arm_failed", f"{last['arm']}: failed twice: {last['reason']}", exit_code=EXIT_RUN_FAILED)


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
        "fingerprint": taken.record,
        "warnings": [*record["warnings"], *taken.warnings, *reset_warnings(experiment, servers.all)],
    }


def _run_record(
    request: Request,
    experiment: Experiment,
    servers: Servers,
    prepared: list[Prepared],
    left_out: list[LeftOut],
    measured: Mapping[str, int],
    found: Found,
) -> dict[str, Any]:
    names = [each.arm.name for each in prepared]
    return {
        "format": journal.FORMAT,
        "run_id": request.directory.resolve().name,
        "dbdyno": {"version": engine.VERSION, "build_profile": engine.BUILD_PROFILE},
        "experiment": experiment.name,
        "experiment_file": experiment.path.name,
        "question": experiment.question,
        "metric": experiment.metric,
        "margin": experiment.margin,
        "seed": request.seed,
        "blocks": experiment.blocks,
        "quick": experiment.quick,
        "sampling_budget": experiment.sampling_budget,
        "stacks": experiment.stacks,
        "started_at": now(),
        "arms": [{**_arm_record(each, names, found), "server": servers.index(each.arm.server)} for each in prepared],
        "outcomes": list(experiment.outcomes),
        "invariants": list(experiment.invariants),
        "left_out": [dataclasses.asdict(each) for each in left_out],
        "schedule": [
            {"trial": place.trial, "block": place.block, "position": place.position, "arm": place.arm}
            for place in schedule(names, experiment.blocks, request.seed)
        ],
        "measured": dict(measured),
    }


def _arm_record(prepared: Prepared, names: list[str], found: Found) -> dict[str, Any]:
    arm = prepared.arm
    return {
        "arm": arm.name,
        "levels": arm.levels,
        "baseline": arm.baseline if arm.baseline in names else None,
        "clients": arm.clients,
        "threads": arm.threads,
        "mode": arm.mode,
        "arrival": arm.arrival.document(),
        "scripts": [script.name for script in arm.scripts],
        "rows_per_unit": arm.rows_per_unit,
        "fixed_units": arm.fixed_units,
        "fetch_rows": arm.fetch_rows,
        "reset": list(arm.reset),
        "sql": arm.sql or None,
        "undo": arm.undo or None,
        "index": index_record(arm, found),
        "expect": arm.expect.model_dump(exclude_defaults=True),
        "in_script": {name: value for script in arm.scripts for name, value in settings_in_script(script.text)},
        "settings": prepared.settings,
        "session": prepared.session,
        "role": prepared.role,
    }


def _check_same_place(then: Mapping[str, Any], now: Mapping[str, Any], directory: Path) -> None:
    """One run has one machine, one version of each server, one storage: trials of two cannot be told apart later."""
    if not then:
        return
    before, after = _place(then), _place(now)
    for what, advice in (
        ("cpu_model", "go on with the machine of then"),
        ("cpus", "go on with the machine of then"),
        ("server.version", "name the --target or --server-bin of then"),
        ("data_directory.file_system", "name the --data-dir of then"),
        ("data_directory.device", "name the --data-dir of then"),
    ):
        if before[what] != after[what]:
            raise DynoError(
                "other_machine",
                f"--resume {directory}: {what} was {before[what]!r} and is {after[what]!r} here; {advice}",
            )


def _place(machine: Mapping[str, Any]) -> dict[str, Any]:
    """What must stay the same over a run; the versions of all servers, in the order of their index."""
    storage = machine["data_directory"] or {}
    return {
        "cpu_model": machine["cpu_model"],
        "cpus": machine["cpus"],
        "server.version": ", ".join(server["version"] for server in machine.get("servers", [machine["server"]])),
        "data_directory.file_system": storage.get("file_system"),
        "data_directory.device": storage.get("device"),
    }


def _check_same_arms(run: Mapping[str, Any], prepared: list[Prepared], directory: Path) -> None:
    then = [arm["arm"] for arm in run["arms"]]
    now_possible = [each.arm.name for each in prepared]
    if then != now_possible:
        missing = ", ".join(sorted(set(then) ^ set(now_possible)))
        raise DynoError(
            "other_target",
            f"--resume {directory}: the arms differ on this target ({missing}); name the --target of then",
        )
