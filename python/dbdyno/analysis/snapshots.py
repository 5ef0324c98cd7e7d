"""What the trials of an arm recorded of response times and snapshots, as columns that numpy can add up.

A trial's units are cut into chunks of time and bins of response time; a cell is what one bin of one chunk holds:
exact sums over its units, and for each wait event the snapshots in them (`profile.cells` in docs/architecture.md).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dbdyno.analysis.columns import Integers, flattened, integers, owners
from dbdyno.analysis.documents import Document
from dbdyno.analysis.packed_cells import cell_columns
from dbdyno.analysis.resampling import MINIMUM_CLUSTERS, Floats, Resampling

NO_EVENT = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Sums:
    """Totals over some units, a row for each cluster or replicate, and over their snapshots, a column an event."""

    units: Floats
    response_ns: Floats
    queue_ns: Floats
    cpu_step_ns: Floats
    run_queue_step_ns: Floats
    seen: Floats
    looked: Floats
    asleep: Floats

    def resampled(self, resampling: Resampling) -> Sums:
        """From clusters to the data as they are and all replicates."""
        return Sums(*resampling.totals_of_each([getattr(self, field.name) for field in dataclasses.fields(self)]))


@dataclasses.dataclass(frozen=True, slots=True)
class Events:
    """The wait events of an arm: every trial numbers those that it met, here they have one number each.

    `numbers` are those of all events of the first trial, then of the second, and so on; `first` is where each begins.
    """

    names: list[str]
    numbers: Integers
    first: Integers

    @classmethod
    def of(cls, profiles: Sequence[Document]) -> Events:
        """The events of these trials, in the order of first sight."""
        met = [profile["events"] for profile in profiles]
        every = flattened(met)
        number = {name: place for place, name in enumerate(dict.fromkeys([NO_EVENT, *every]))}
        first = np.cumsum([0, *map(len, met[:-1])])
        return cls(list(number), integers([number[name] for name in every]), first)

    def numbers_of(self, trials: Integers, events: Integers) -> Integers:
        """The numbers of events, each as its trial numbers it."""
        numbers: Integers = self.numbers[self.first[trials] + events]
        return numbers

    def counted(self, snapshots: Sequence[Sequence[Sequence[int]]]) -> tuple[Floats, Floats, Floats]:
        """Seen, looked and asleep by trial and event, of something that has its snapshots by trial only.

        Args:
            snapshots: those of each trial, rows of [event, seen, looked, asleep].
        """
        trial = owners(snapshots)
        found = _snapshot_rows(snapshots)
        shape = (len(snapshots), len(self.names))
        place = trial * shape[1] + self.numbers_of(trial, found[:, 0])
        seen, looked, asleep = (_added(place, column, shape) for column in found[:, 1:].T)
        return seen, looked, asleep


@dataclasses.dataclass(frozen=True, slots=True)
class Cells:
    """All cells of an arm.

    `cluster` is the trial of each cell, or its chunk where there are few trials (`resampled` says which); `sums` has
    a row a cell, `snapshots` a row for each event of each cell: seen, looked, asleep.
    """

    events: Events
    bins_per_decade: int
    resampled: str
    clusters: int
    cluster: Integers
    bin: Integers
    sums: Integers
    snapshot_cell: Integers
    snapshot_event: Integers
    snapshots: Integers

    def within(self, bins: Integers | None = None) -> Sums:
        """By cluster, over the units of these bins; None: over all."""
        chosen: Any = slice(None) if bins is None else np.isin(self.bin, bins)
        cluster, sums = self.cluster[chosen], self.sums[chosen]
        of_chosen = chosen if bins is None else chosen[self.snapshot_cell]
        shape = (self.clusters, len(self.events.names))
        place = self.cluster[self.snapshot_cell[of_chosen]] * shape[1] + self.snapshot_event[of_chosen]
        return Sums(
            *(_added(cluster, column, shape[:1]) for column in sums.T),
            *(_added(place, column, shape) for column in self.snapshots[of_chosen].T),
        )


def cells_of(outcomes: Sequence[Document]) -> Cells | None:
    """The cells of all trials of an arm; None where a trial has none (recorded before they were, or waits off)."""
    profiles = [outcome["profile"] for outcome in outcomes]
    if not all(profile.get("cells") for profile in profiles):
        return None
    events = Events.of(profiles)
    found = cell_columns([profile["cells"] for profile in profiles])
    by_trial = len(profiles) >= MINIMUM_CLUSTERS
    cluster = found.trial if by_trial else _numbered(found.trial * (1 + int(found.chunk.max())) + found.chunk)
    snapshot_cell = np.repeat(np.arange(len(found.rows)), found.rows)
    return Cells(
        events=events,
        bins_per_decade=profiles[0]["bins_per_decade"],
        resampled="trials" if by_trial else "chunks",
        clusters=int(cluster.max()) + 1,
        cluster=cluster,
        bin=found.bin,
        sums=found.sums,
        snapshot_cell=snapshot_cell,
        snapshot_event=events.numbers_of(found.trial[snapshot_cell], found.event),
        snapshots=found.snapshots,
    )


def _numbered(keys: Integers) -> Integers:
    """The place of each key among all that there are."""
    places: Integers = np.unique(keys, return_inverse=True)[1]
    return places


def _snapshot_rows(snapshots: Sequence[Sequence[Sequence[int]]]) -> Integers:
    """All rows of [event, seen, looked, asleep]."""
    return integers(flattened(flattened(snapshots))).reshape(-1, 4)


def _added(place: Integers, values: Integers, shape: tuple[int, ...]) -> Floats:
    """Values summed by their place in an array of this shape."""
    return np.bincount(place, values, math.prod(shape)).astype(np.float64).reshape(shape)
