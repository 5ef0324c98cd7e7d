"""Going on with a run: the experiment as it was, and the refusal to go on in another place."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dbdyno.design.asked import DEFAULT_SAMPLING_BUDGET, Asked
from dbdyno.design.experiment import Experiment, load_experiment
from dbdyno.errors import DynoError
from dbdyno.runner.prepare import Prepared
from dbdyno.store import run_directory


def experiment_of(directory: Path) -> Experiment:
    """The experiment of an unfinished run, from the copies kept in its directory."""
    stored, _ = run_directory.read(directory)
    if stored.ended:
        raise DynoError("run_complete", f"--resume {directory}: is complete; dbdyno report shows it")
    return load_experiment(run_directory.experiment_copy(stored), _asked(stored.run))


def _asked(run: Mapping[str, Any]) -> Asked:
    """The flags that the run was started with."""
    return Asked(
        quick=run["quick"],
        blocks=run["blocks"],
        scale=run.get("scale"),
        until_decided=run.get("until_decided", False),
        null_arm=any(arm.get("null") for arm in run["arms"]),
        all_pairs=run.get("all_pairs", False),
        stacks=run.get("stacks", False),
        sampling_budget=run.get("sampling_budget", DEFAULT_SAMPLING_BUDGET),
    )


def check_same_place(then: Mapping[str, Any], now: Mapping[str, Any], directory: Path) -> None:
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


def check_same_arms(run: Mapping[str, Any], prepared: list[Prepared], directory: Path) -> None:
    """The arms of a run stay what they were."""
    then = [arm["arm"] for arm in run["arms"]]
    now_possible = [each.arm.name for each in prepared]
    if then != now_possible:
        missing = ", ".join(sorted(set(then) ^ set(now_possible)))
        raise DynoError(
            "other_target",
            f"--resume {directory}: the arms differ on this target ({missing}); name the --target of then",
        )
