"""Where an arm's time went: its mean profile, error bars, the tail, each script and each statement.

All but the profile rests on the same snapshots, divided by the same rules and resampled in the same way.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from dbdyno.analysis.bands import SLOWEST, Share
from dbdyno.analysis.division import Clocks, Divider
from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Intervals, Part, StatementTimes, Tail, TimeProfile
from dbdyno.analysis.mean_parts import intervals
from dbdyno.analysis.profile import PartSums, parts_by_trial
from dbdyno.analysis.resampling import Resampling
from dbdyno.analysis.snapshots import Cells, cells_of
from dbdyno.analysis.statements import Portions, by_statement, script_parts
from dbdyno.analysis.tail import tail

NOT_RECORDED = "this run recorded no snapshots by response time"
# Where it was not asked for, and where a thread of ours did the work by itself.
NOT_SAMPLED = ("off", "own clocks")
NO_SNAPSHOTS = "the waits were not sampled"


class TimeSpent:
    """What the trials of one arm say of its time; each figure is made when it is asked for."""

    def __init__(self, trials: Sequence[Document], seed: int) -> None:
        self._trials = trials
        self._seed = seed
        self._outcomes = [trial["outcome"] for trial in trials]
        self._cells = cells_of(self._outcomes)
        self._divider = None if self._cells is None else _divider(self._cells, self._outcomes, seed)

    @functools.cached_property
    def _sums(self) -> PartSums:
        return parts_by_trial(self._trials)

    def profile(self) -> TimeProfile:
        """The mean profile of a unit."""
        return self._sums.profile()

    def intervals(self) -> Intervals | None:
        """The error bars of the mean profile."""
        return intervals(self._sums, self._cells, self._divider, self._seed)

    def tail(self, asked: Share = SLOWEST) -> tuple[Tail | None, str | None]:
        """Why the slowest units are slow; or None and the reason."""
        if self._cells is None or self._divider is None:
            off = any(outcome["profile"]["route"] in NOT_SAMPLED for outcome in self._outcomes)
            return None, NO_SNAPSHOTS if off else NOT_RECORDED
        found = tail(self._cells, self._divider, self._seed, asked)
        return (None, found) if isinstance(found, str) else (found, None)

    def seen_and_looked(self) -> tuple[int, int] | None:
        """The snapshots within counted units, and those of them with a look whether the backend slept."""
        if self._cells is None:
            return None
        seen, looked, _ = self._cells.snapshots.T
        return int(seen.sum()), int(looked.sum())

    def by_statement(self) -> list[StatementTimes]:
        """Each statement's part of a unit of work."""
        portions = self._portions()
        return [] if portions is None else by_statement(self._outcomes, portions)

    def by_script(self) -> dict[str, list[Part]]:
        """The parts of each script's mean response time."""
        portions = self._portions()
        return {} if portions is None else script_parts(self._outcomes, portions)

    def _portions(self) -> Portions | None:
        if self._cells is None or self._divider is None:
            return None
        of_trials = self._cells.resampled == "trials"
        return Portions(
            events=self._cells.events,
            divider=self._divider if of_trials else self._divider.of_estimates(),
            resampling=Resampling.of(len(self._trials), self._seed),
        )


def _divider(cells: Cells, outcomes: Sequence[Document], seed: int) -> Divider:
    resampling = Resampling.of(cells.clusters, seed)
    return Divider(cells.events.names, cells.within().resampled(resampling), _clocks(cells, outcomes, resampling))


def _clocks(cells: Cells, outcomes: Sequence[Document], resampling: Resampling) -> Clocks | None:
    """CPU, run queue and sleep of all units; None where any trial lacks the clocks.

    A trial's clocks are not cut into chunks: where chunks are resampled, they are the same in every replicate.
    """
    profiles = [outcome["profile"] for outcome in outcomes]
    if any(profile["cpu_ns"] is None for profile in profiles):
        return None
    by_trial = np.array([[p["cpu_ns"], p["run_queue_ns"], _asleep_ns(p)] for p in profiles], dtype=np.float64)
    totals = resampling.totals(by_trial) if cells.resampled == "trials" else by_trial.sum(axis=0, keepdims=True)
    return Clocks(*totals.T)


def _asleep_ns(profile: Document) -> int:
    unnamed = profile["asleep_no_wait_event_ns"] + profile["client_and_network_ns"]
    return int(unnamed + sum(profile["waits_ns"].values()))
