"""A bench whose trials take no time: the product's own loop, journal and analysis on noise that is known.

The clock is a counter and the server a table of figures; everything else is what runs on a real database.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import synthetic
from numpy.typing import NDArray

from dbdyno.analysis.analyse import analyse
from dbdyno.analysis.findings import Findings
from dbdyno.analysis.stopping import decided_early
from dbdyno.design.schedule import Place, schedule
from dbdyno.engine import Watcher
from dbdyno.runner.loop import run_trials
from dbdyno.store import journal, run_directory

Record = dict[str, Any]
BEGUN = datetime.datetime(2026, 11, 22, 10, tzinfo=datetime.UTC)
TRIAL_S = 1.3


@dataclasses.dataclass
class FakeBench:
    """Each trial is as fast as the next number of `slowness` leaves it, and arm `a` slower by `effect`, both logs."""

    templates: Mapping[str, Record]
    slowness: NDArray[np.float64]
    effect: float
    done: int = 0

    def run_trial(self, place: Place, live: Watcher | None) -> Record:
        """The next trial in time."""
        slower = self.slowness[self.done] + (self.effect if place.arm == "a" else 0.0)
        started = BEGUN + datetime.timedelta(seconds=TRIAL_S * self.done)
        self.done += 1
        template = self.templates[place.arm]
        outcome = template["outcome"]
        return {
            **template,
            **dataclasses.asdict(place),
            "started_at": started.isoformat(timespec="milliseconds"),
            "outcome": {**outcome, "throughput_per_s": outcome["throughput_per_s"] * float(np.exp(-slower))},
        }

    def check(self, trials: Sequence[Mapping[str, Any]]) -> None:
        """Nothing makes going on pointless."""


class Nobody:
    """Who is told of a run and does not care."""

    def __getattr__(self, _: str) -> Any:
        return lambda *_: None


def run_on_fake(
    directory: Path, slowness: NDArray[np.float64], effect: float, seed: int, arms: Sequence[str], looks: Sequence[int]
) -> Findings:
    """Schedule, loop, journal, reading back, analysis: what a user would be told."""
    run, machine, templates = _documents(arms)
    run.update(seed=seed, blocks=looks[-1], looks=list(looks))
    run["schedule"] = [dataclasses.asdict(place) for place in schedule(list(arms), looks[-1], seed)]
    directory.mkdir()
    opened = journal.Journal(directory / journal.FILE_NAME)
    try:
        opened.append("run", run)
        opened.append("machine", machine)
        run_trials(opened, run, [], FakeBench(templates, slowness, effect), Nobody(), decided_early)
    finally:
        opened.close()
    stored, _ = run_directory.read(directory)
    assert stored.ended
    return analyse(stored.run, stored.machine, stored.trials)


def _documents(arms: Sequence[str]) -> tuple[Record, Record, dict[str, Record]]:
    """The records of a run of arms that do not differ: one trial each, to be copied."""
    shape = synthetic.SHAPES["cpu-bound/wait-immediate"]
    run, machine, trials = synthetic.run(
        arms=len(arms), blocks=1, noise=0.0, shapes={f"load/{arm}": shape for arm in arms}
    )
    for arm, name in zip(run["arms"], arms, strict=True):
        arm.update(arm=name, levels={"arm": name}, baseline=None if name == arms[0] else arms[0])
    by_name = {trial["arm"].removeprefix("load/"): trial for trial in trials}
    same = by_name[arms[0]]["outcome"]
    return run, machine, {name: {**trial, "arm": name, "outcome": same} for name, trial in by_name.items()}
