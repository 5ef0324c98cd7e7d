"""Units of work whose every microsecond is known, and a sampler that looks at them as the real one does.

    trials = simulated_units.trials(SERVER, trials=12, seed=1)

A unit is a row of stretches, one for each kind of time: CPU, run queue, waits, the client. A snapshot falls into one of
them with the chance that its length gives; whether the backend slept is looked up for some snapshots only.
Trials differ in speed, as they do on real machines, so that units of one trial resemble each other.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import cell_text
import numpy as np

Document = dict[str, Any]

PERIOD_NS = 1_000_000
LOOKED_SHARE = 0.25
BINS_PER_DECADE = 50
CHUNKS = 10
LOCK = "Lock:transactionid"


@dataclasses.dataclass(frozen=True)
class Server:
    """Mean times in ns of one unit, gamma-distributed, and a lock that a few units meet.

    `kinds` are parts of a profile: `cpu`, `run_queue`, wait events, `` (asleep without one), `Client:ClientRead`.
    """

    kinds: Mapping[str, float]
    units_a_trial: int = 2_000
    lock_chance: float = 0.01
    lock_ns: float = 20e6
    trial_noise: float = 0.05


SERVER = Server(
    {
        "cpu": 300e3, "run_queue": 120e3, "IO:WalSync": 900e3, "LWLock:WALWrite": 500e3, "": 80e3,
        "Client:ClientRead": 60e3,
    }
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Truth:
    """What every unit spent: response times, and its stretches by kind."""

    response_ns: np.ndarray
    stretches_ns: np.ndarray
    kinds: list[str]

    def mean(self, part: str, chosen: np.ndarray | None = None) -> float:
        """The mean time of a part, named as in a profile, over all units or some."""
        kind = {"asleep_no_wait_event": "", "client_and_network": "Client:ClientRead"}.get(part, part)
        if kind not in self.kinds:
            return 0.0
        column = self.stretches_ns[:, self.kinds.index(kind)]
        return float(column.mean() if chosen is None else column[chosen].mean())


def truth(server: Server, random: np.random.Generator) -> Truth:
    """The units of one trial."""
    kinds = [*server.kinds, LOCK]
    means = np.array(list(server.kinds.values())) * np.exp(random.normal(0.0, server.trial_noise))
    count = server.units_a_trial
    stretches = random.gamma(4.0, means / 4.0, (count, len(means)))
    met = random.random(count) < server.lock_chance
    lock = np.where(met, random.gamma(50.0, server.lock_ns / 50.0, count), 0.0)
    whole = np.rint(np.column_stack([stretches, lock])).astype(np.int64)
    return Truth(whole.sum(axis=1), whole, kinds)


def outcome(units: Truth, random: np.random.Generator) -> Document:
    """What the driver and the sampler record of these units, as far as the analysis of profiles reads it."""
    kinds, stretches = units.kinds, units.stretches_ns
    seen = random.poisson(stretches / PERIOD_NS)
    looked = random.binomial(seen, LOOKED_SHARE)
    sums = dict(zip(kinds, map(int, stretches.sum(axis=0)), strict=True))
    waits = {kind: ns for kind, ns in sums.items() if ":" in kind and not kind.startswith("Client:") and ns}
    total = int(units.response_ns.sum())
    return {
        "units": {"successful": len(units.response_ns), "failed": 0},
        "profile": {
            "route": "mapped", "queue_ns": 0, "cpu_ns": sums["cpu"], "run_queue_ns": sums["run_queue"],
            "waits_ns": waits, "asleep_no_wait_event_ns": sums[""], "client_and_network_ns": sums["Client:ClientRead"],
            "unaccounted_ns": 0, "total_ns": total, "bins_per_decade": BINS_PER_DECADE,
            "snapshots": int(seen.sum()), "events": [kind for kind in kinds if kind not in ("cpu", "run_queue")],
            "cells": cell_text.pack(_cells(units, seen, looked)),
        },
    }  # fmt: skip


def trials(server: Server, count: int, seed: int) -> tuple[list[Document], list[Truth]]:
    """The trials of an arm, and what is true of each."""
    random = np.random.default_rng(seed)
    truths = [truth(server, random) for _ in range(count)]
    return [{"outcome": outcome(units, random)} for units in truths], truths


def pooled(truths: list[Truth]) -> Truth:
    """All units of all trials."""
    return Truth(
        np.concatenate([units.response_ns for units in truths]),
        np.concatenate([units.stretches_ns for units in truths]),
        truths[0].kinds,
    )


def bins_of(response_ns: np.ndarray) -> np.ndarray:
    """The bin of each response time."""
    return np.floor(np.log10(response_ns) * BINS_PER_DECADE).astype(np.int64)


def _cells(units: Truth, seen: np.ndarray, looked: np.ndarray) -> list[list[Any]]:
    count = len(units.response_ns)
    keys = np.stack([np.arange(count) * CHUNKS // count, bins_of(units.response_ns)])
    found, place = np.unique(keys, axis=1, return_inverse=True)
    place = place.ravel()

    def total(columns: np.ndarray) -> np.ndarray:
        summed = np.zeros((found.shape[1], *columns.shape[1:]), dtype=np.int64)
        np.add.at(summed, place, columns)
        return summed

    units_in, response_ns, seen_in, looked_in = map(
        total, (np.ones(count, dtype=np.int64), units.response_ns, seen, looked)
    )
    return [
        [
            int(found[0, at]), int(found[1, at]), int(units_in[at]), int(response_ns[at]), 0,
            int(looked_in[at, 0]) * PERIOD_NS, int(looked_in[at, 1]) * PERIOD_NS,
            _snapshots(units.kinds, seen_in[at], looked_in[at]),
        ]
        for at in range(len(units_in))
    ]  # fmt: skip


def _snapshots(kinds: list[str], seen: np.ndarray, looked: np.ndarray) -> list[list[int]]:
    """A backend that computes or stands in line shows no event, as one that sleeps without one."""
    rows = []
    for event, kind in enumerate(kinds[2:]):
        place = event + 2
        busy_seen, busy_looked = (int(counts[:2].sum()) if kind == "" else 0 for counts in (seen, looked))
        if seen[place] + busy_seen:
            rows.append([event, int(seen[place]) + busy_seen, int(looked[place]) + busy_looked, int(looked[place])])
    return rows
