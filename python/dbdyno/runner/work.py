"""The work of a trial, whoever does it: sessions of the server, a plain program, another engine."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dbdyno import engine
from dbdyno.design.experiment import Experiment
from dbdyno.design.schedule import trial_seed
from dbdyno.runner import peer_work, plain_io
from dbdyno.runner.prepare import Prepared, session_statements
from dbdyno.runner.read_back import ReadBack, read_back
from dbdyno.runner.session_work import SessionWork
from dbdyno.targets.target import Target

Document = dict[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Work:
    """Something that is ready to be done: `run` does it and returns the outcome, `record` is for behind it.

    `seen` are the settings as whoever does it sees them.
    """

    seen: ReadBack
    run: Callable[[], Document]
    record: Callable[[], Document]


@dataclasses.dataclass(frozen=True, slots=True)
class Circumstances:
    """What is the same for all trials, but for the live view: `files` are the tables of other engines."""

    experiment: Experiment
    seed: int
    files: Mapping[str, Path]
    live: engine.Watcher | None


@contextmanager
def opened(around: Circumstances, target: Target, prepared: Prepared, block: int) -> Iterator[Work]:
    """The work of one arm in one block, with everything open that can be before it begins."""
    arm, seed = prepared.arm, trial_seed(around.seed, block)
    if arm.engine is not None:
        with peer_work.opened(arm, prepared.session, target, around.files, seed) as peer:
            yield Work(peer.seen, peer.run, lambda: {"work": peer.record()})
        return
    seen = read_back(target, around.experiment, prepared, session_statements(prepared.session))
    if arm.file is not None and arm.is_plain_io:
        assert arm.fixed_units is not None
        with plain_io.opened(target, arm.file, arm.fixed_units, seed) as plain:
            yield Work(seen, plain.run, lambda: {"file": plain.record()})
        return
    session = SessionWork(around.experiment, target, prepared, seed, around.live)
    yield Work(seen, session.run, session.record)
