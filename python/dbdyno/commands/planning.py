"""What `dbdyno plan` does: write the plan down, and run a pilot where it is asked for."""

from __future__ import annotations

import dataclasses
import json
import shlex
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from dbdyno import experiments
from dbdyno.analysis.findings import Pilot
from dbdyno.analysis.outlook import PILOT_BLOCKS
from dbdyno.analysis.pilot import pilot_of
from dbdyno.commands.running import default_directory, load, start_run
from dbdyno.design.asked import Asked
from dbdyno.design.plan import plan_document
from dbdyno.report import plan as report
from dbdyno.runner.run import Request
from dbdyno.store import run_directory
from dbdyno.targets.open import TargetRequest


def plan(
    experiment: str, asked: Asked, seed: int, where: TargetRequest | None, out: Path | None, *, as_json: bool
) -> None:
    """Print the plan; `where` is where the pilot runs, None: without one."""
    path = experiments.find(experiment)
    document = plan_document(load(path, asked), seed)
    found = None if where is None else _pilot(path, asked, seed, where, out, document)
    if as_json:
        whole = {**document, "pilot": None if found is None else dataclasses.asdict(found)}
        typer.echo(json.dumps(whole, indent=1, allow_nan=False, ensure_ascii=False))
        return
    console = Console()
    for line in report.render(document, found, _next(experiment, asked, seed)):
        console.print(line, highlight=False, soft_wrap=True)


def _pilot(
    path: Path, asked: Asked, seed: int, where: TargetRequest, out: Path | None, document: dict[str, Any]
) -> Pilot:
    """Eight blocks in a run directory of their own, with a seed of their own: a pilot's blocks decide nothing."""
    loaded = load(path, dataclasses.replace(asked, blocks=PILOT_BLOCKS, until_decided=False))
    directory = out or default_directory(loaded, seed, "pilot")
    start_run(Request(loaded, directory, seed + 1), where)
    stored, _ = run_directory.read(directory)
    return pilot_of(stored.run, stored.trials, document)


def _next(experiment: str, asked: Asked, seed: int) -> str:
    numbers = {"blocks": asked.blocks, "scale": asked.scale}
    flags = [f"--{name} {number}" for name, number in numbers.items() if number is not None]
    flags += [f"--{name.replace('_', '-')}" for name in _SWITCHES if getattr(asked, name)]
    return " ".join(["dbdyno run", shlex.quote(experiment), *flags, f"--seed {seed}"])


_SWITCHES = ("quick", "until_decided", "null_arm", "all_pairs")
