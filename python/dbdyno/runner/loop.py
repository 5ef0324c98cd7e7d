"""The schedule loop: go through the places still pending, make each trial durable before the next begins."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from dbdyno import engine
from dbdyno.design.schedule import Place
from dbdyno.errors import EXIT_RUN_FAILED, DynoError
from dbdyno.runner.pending import hopeless_arm, next_place, trials_left
from dbdyno.runner.trial import now
from dbdyno.store import journal

Record = dict[str, Any]

# Told the run record and the trials so far: whether the run may end here, because all is decided.
DecidedEarly = Callable[[Mapping[str, Any], Sequence[Mapping[str, Any]]], bool]


class Progress(Protocol):
    """Who wants to know how a run goes on."""

    def stage(self, what: str) -> None:
        """A step before the first trial."""

    def notice(self, what: str) -> None:
        """Something to know before the first trial, which stays in sight."""

    def trials_begin(self, done: int, left: int) -> None:
        """The first trial of this session starts; `done` were recorded before."""

    def block_begins(self, run: Mapping[str, Any], trials: Sequence[Mapping[str, Any]]) -> None:
        """The next trial is the first of a block; `trials` are those so far."""

    def trial_begins(self, place: Place) -> engine.Watcher | None:
        """The next trial starts; what is returned sees its work about once a second."""

    def trial_done(self, record: Mapping[str, Any], done: int, left: int) -> None:
        """One more trial is durable."""


class Bench(Protocol):
    """What trials are run on."""

    def run_trial(self, place: Place, live: engine.Watcher | None) -> Record:
        """The record of one trial."""

    def check(self, trials: Sequence[Mapping[str, Any]]) -> None:
        """Raises `DynoError` where what was seen so far makes going on pointless."""


def run_trials(
    opened: journal.Journal,
    run: Mapping[str, Any],
    trials: list[Record],
    bench: Bench,
    progress: Progress,
    decided_early: DecidedEarly,
) -> None:
    """Until every block is complete or given up, or a look shows that all is decided; then the `end` record.

    Args:
        opened: the journal, behind its last record.
        run: the run record.
        trials: those that it has already; the new ones are added.
        bench: where to run them.
        progress: who is told.
        decided_early: whether the run may end before its last block.
    """
    try:
        reason = _trials(opened, run, trials, bench, progress, decided_early)
    except KeyboardInterrupt:
        _end(opened, "interrupted")
        raise
    except DynoError as error:
        if error.code != "run_unwritable":
            _end(opened, error.message)
        raise
    _end(opened, reason)


def _trials(
    opened: journal.Journal,
    run: Mapping[str, Any],
    trials: list[Record],
    bench: Bench,
    progress: Progress,
    decided_early: DecidedEarly,
) -> str:
    """Runs them; returns why there are no more."""
    plan = [arm["arm"] for arm in run["arms"]], run["blocks"], run["seed"]
    progress.trials_begin(len(trials), trials_left(*plan, trials))
    while (place := next_place(*plan, trials)) is not None:
        if place.position == 0:
            if decided_early(run, trials):
                return "decided"
            progress.block_begins(run, trials)
        live = progress.trial_begins(place)
        record = bench.run_trial(place, live)
        opened.append("trial", record)
        trials.append(record)
        progress.trial_done(record, len(trials), trials_left(*plan, trials))
        _check_hope(trials, record)
        bench.check(trials)
    return "complete"


def _end(opened: journal.Journal, reason: str) -> None:
    opened.append("end", {"finished_at": now(), "reason": reason})


def _check_hope(trials: Sequence[Mapping[str, Any]], last: Mapping[str, Any]) -> None:
    if hopeless_arm(trials) is not None:
        raise DynoError("arm_failed", f"{last['arm']}: failed twice: {last['reason']}", exit_code=EXIT_RUN_FAILED)
