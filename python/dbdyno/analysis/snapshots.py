"""What the trials of an arm recorded of response times and snapshots, as columns that numpy can add up.

A trial's units are cut into chunks of time and bins of response time; a cell is what one bin of one chunk holds:
exact sums over its units, and for each wait event the snapshots in them (`profile.cells` in docs/architecture.md).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from dbdyno.analysis.documents import Document
from dbdyno.analysis.resampling import MINIMUM_CLUSTERS, Floats, Resampling

Integers = npt.NDArray[np.int64]

# Columns of a cell: chunk, bin, then these sums, then the snapshots.
SUMS = 5
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
class Cells:
    """All cells of an arm.

    `cluster` is the trial of each cell, or its chunk where there are few trials (`resampled` says which); `sums` has
    a row a cell, `snapshots` a row for each event of each cell: seen, looked, asleep.
    """

    events: list[str]
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
        chosen = np.ones(len(self.bin), dtype=bool) if bins is None else np.isin(self.bin, bins)
        by_cluster: list[Floats] = [
            np.bincount(self.cluster[chosen], column, self.clusters).astype(np.float64)
            for column in self.sums[chosen].T
        ]
        of_chosen = chosen[self.snapshot_cell]
        width = len(self.events)
        place = self.cluster[self.snapshot_cell[of_chosen]] * width + self.snapshot_event[of_chosen]
        counts: list[Floats] = [
            np.bincount(place, column, self.clusters * width).astype(np.float64).reshape(self.clusters, width)
            for column in self.snapshots[of_chosen].T
        ]
        return Sums(*by_cluster, *counts)


def cells_of(outcomes: Sequence[Document]) -> Cells | None:
    """The cells of all trials of an arm; None where a trial has none (recorded before they were, or waits off)."""
    profiles = [outcome["profile"] for outcome in outcomes]
    if not all(profile.get("cells") for profile in profiles):
        return None
    events = list(dict.fromkeys([NO_EVENT, *chain.from_iterable(profile["events"] for profile in profiles)]))
    by_trial = len(profiles) >= MINIMUM_CLUSTERS
    columns = [_columns(profile["cells"]) for profile in profiles]
    offsets = np.cumsum([0, *(len(exact) for exact, *_ in columns)])
    exact = np.concatenate([exact for exact, *_ in columns])
    trial = np.repeat(np.arange(len(profiles)), np.diff(offsets))
    keys = trial if by_trial else trial * (1 + int(exact[:, 0].max())) + exact[:, 0]
    found, cluster = np.unique(keys, return_inverse=True)
    named = [np.array([events.index(event) for event in profile["events"]], dtype=np.int64) for profile in profiles]
    return Cells(
        events=events,
        bins_per_decade=profiles[0]["bins_per_decade"],
        resampled="trials" if by_trial else "chunks",
        clusters=len(found),
        cluster=cluster,
        bin=exact[:, 1],
        sums=exact[:, 2:],
        snapshot_cell=np.concatenate([place + offset for (_, place, _), offset in zip(columns, offsets, strict=False)]),
        snapshot_event=np.concatenate([name[rows[:, 0]] for (_, _, rows), name in zip(columns, named, strict=True)]),
        snapshots=np.concatenate([rows[:, 1:] for _, _, rows in columns]),
    )


def _columns(cells: Sequence[Sequence[Any]]) -> tuple[Integers, Integers, Integers]:
    """Exact columns (a row a cell), the cell of each snapshot row, and the snapshot rows [event, seen, looked, asleep].

    Flat iterators, because an arm of 128 trials has some hundred thousand small lists.
    """
    width = 2 + SUMS
    exact = np.fromiter(chain.from_iterable(cell[:width] for cell in cells), np.int64).reshape(-1, width)
    rows: list[list[list[int]]] = [cell[width] for cell in cells]
    place = np.repeat(np.arange(len(cells)), [len(row) for row in rows])
    flat = np.fromiter(chain.from_iterable(chain.from_iterable(rows)), np.int64)
    return exact, place, flat.reshape(-1, 4)


def snapshots_of(
    profiles: Sequence[Document], snapshots: Sequence[Sequence[Sequence[int]]], events: Sequence[str]
) -> tuple[Floats, Floats, Floats]:
    """Seen, looked and asleep by trial and event, of something that has its snapshots by trial only.

    Args:
        profiles: the profile of each trial, which names the events that the trial's snapshots mean.
        snapshots: those of each trial, rows of [event, seen, looked, asleep].
        events: the columns of the answer.
    """
    counts = np.zeros((3, len(profiles), len(events)))
    column = {event: place for place, event in enumerate(events)}
    for trial, (profile, rows) in enumerate(zip(profiles, snapshots, strict=True)):
        for event, *three in rows:
            counts[:, trial, column[profile["events"][event]]] += three
    return counts[0], counts[1], counts[2]
