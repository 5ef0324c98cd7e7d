"""Where an arm's time went, with error bars: its mean profile, the slowest units, each statement and each script.

Follows docs/how-we-decide.md, "Error bars of a profile" and "The time of some units".
A table of sums has a row a cluster, or, resampled, a row for the data as they are and one a replicate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import cell_text
import numpy as np
from arm_numbers import executed, profile_sums
from journal_reader import Document
from replicates import Replicates, estimate, order_by_size, rank_groups, simultaneous_p_values

BINS_PER_DECADE = 50
EXACT = ("units", "response", "queue", "cpu_step", "run_queue_step")
COUNTED = ("seen", "looked", "asleep")
CLIENT = ("Client:ClientRead", "Client:ClientWrite")
ENOUGH_LOOKS, ENOUGH_STEPS, FEWEST_SNAPSHOTS, FEWEST_UNITS = 30, 0.1, 50, 5
SLOWEST, MEDIAN = (0.99, 1.0), (0.4, 0.6)

Sums = dict[str, np.ndarray]


def time_numbers(trials: list[Document], seed: int, slow: tuple[float, float] = SLOWEST) -> Document:
    """The keys `intervals`, `tail`, and the parts of `by_statement` and `by_script`."""
    outcomes = [trial["outcome"] for trial in trials]
    has_cells = all(outcome["profile"].get("cells") for outcome in outcomes)
    arm = _Arm(trials, seed) if has_cells else None
    return {
        "intervals": _intervals(trials, arm, seed),
        "tail": _tail(arm, slow) if arm else None,
        "by_statement": _statement_parts(arm) if arm else [],
        "by_script": _script_parts(arm, outcomes),
    }


def mean_parts(trials: list[Document], replicates: Replicates) -> tuple[list[str], np.ndarray]:
    """The parts of the mean profile of a unit: names, and a column each."""
    sums = profile_sums(trials)
    names = list(dict.fromkeys(part for one in sums for part in one))
    units = np.array([t["outcome"]["units"]["successful"] + t["outcome"]["units"]["failed"] for t in trials])
    table = np.array([[one.get(part, 0) for part in names] for one in sums])
    return names, replicates.totals(table) / replicates.totals(units)[:, None]


def _parts(names: Sequence[str], figures: np.ndarray, replicates: Replicates) -> list[Document]:
    """Those of some mean time, the greatest first."""
    whole = np.where(np.isnan(figures), figures[:1], figures).sum(axis=1)[:, None]
    ns, shares = replicates.stretched(figures), replicates.stretched(figures / whole)
    groups = rank_groups(ns)
    least = [-math.inf if name == "unaccounted" else 0.0 for name in names]
    return [
        {
            "part": names[at],
            "ns": estimate(ns[:, at], least[at]),
            "share": estimate(shares[:, at], least[at]),
            "rank_group": groups[at],
        }
        for at in order_by_size(figures)
        if figures[0, at] != 0
    ]


class _Arm:
    """The cells of an arm, its clocks, and how its time is divided."""

    def __init__(self, trials: list[Document], seed: int) -> None:
        self.outcomes = [trial["outcome"] for trial in trials]
        self.profiles = [outcome["profile"] for outcome in self.outcomes]
        self.seed = seed
        every = [event for profile in self.profiles for event in profile["events"]]
        self.events = list(dict.fromkeys(["", *every]))
        self.by_trial = len(trials) >= 6
        cells = [(at, cell) for at, profile in enumerate(self.profiles) for cell in cell_text.unpack(profile["cells"])]
        keys = sorted({self._cluster(at, cell) for at, cell in cells})
        place = {key: number for number, key in enumerate(keys)}
        self.cells = [(place[self._cluster(at, cell)], at, cell) for at, cell in cells]
        self.clusters = len(keys)
        self.replicates = Replicates(self.clusters, seed)
        self.all = self.resampled(self.sums())
        self._learn()

    def _cluster(self, trial: int, cell: list) -> tuple[int, int]:
        return (trial, 0 if self.by_trial else cell[0])

    def sums(self, bins: set[int] | None = None) -> Sums:
        """By cluster, over the units of these bins."""
        found = {name: np.zeros(self.clusters) for name in EXACT}
        found |= {name: np.zeros((self.clusters, len(self.events))) for name in COUNTED}
        for cluster, trial, (_, bin_, *exact, snapshots) in self.cells:
            if bins is None or bin_ in bins:
                for name, value in zip(EXACT, exact, strict=True):
                    found[name][cluster] += value
                self.count(found, cluster, trial, snapshots)
        return found

    def count(self, sums: Sums, row: int, trial: int, snapshots: list[list[int]]) -> None:
        """Add rows of [event, seen, looked, asleep] of a trial."""
        for event, *counts in snapshots:
            column = self.events.index(self.profiles[trial]["events"][event])
            for name, count in zip(COUNTED, counts, strict=True):
                sums[name][row, column] += count

    def resampled(self, sums: Sums) -> Sums:
        """From clusters to replicates."""
        return {name: self.replicates.totals(table) for name, table in sums.items()}

    def _learn(self) -> None:
        """How much of an event is sleep in all of the arm, and what the clocks say of it."""
        never = np.array([0.0 if event == "" else 1.0 for event in self.events])
        self.asleep_share = ratio(self.all["asleep"], self.all["looked"], never)
        self.knows_states = self.all["looked"][0].sum() > 0
        self.clocks = None
        self.odds = np.ones(1)
        if any(profile["cpu_ns"] is None for profile in self.profiles):
            return
        by_trial = np.array([[p["cpu_ns"], p["run_queue_ns"], _asleep_ns(p)] for p in self.profiles], dtype=float)
        totals = self.replicates.totals(by_trial) if self.by_trial else by_trial.sum(axis=0)[None]
        self.clocks = totals.T
        if self.knows_states:
            asleep = (self.all["seen"] * self.asleep_share).sum(axis=1)
            runnable = self.all["seen"].sum(axis=1) - asleep
            cpu, run_queue, slept = self.clocks
            wanted = (cpu + run_queue) * asleep
            self.odds = np.where(wanted > 0, ratio(wanted, slept * runnable, 1.0), 1.0)

    def divided(self, some: Sums, rows: slice = slice(None)) -> tuple[list[str], np.ndarray]:
        """The response time of some units by parts; `rows` of what is known of the arm."""
        known, odds = self.asleep_share[rows], self.odds[rows]
        own = ratio(some["asleep"], some["looked"], known[0])
        share = np.where(some["looked"][0] >= ENOUGH_LOOKS, own, known)
        asleep = some["seen"] * share
        runnable = (some["seen"] - asleep).sum(axis=1) * odds
        service = np.maximum(some["response"] - some["queue"], 0)
        each = ratio(service, runnable + asleep.sum(axis=1), math.nan)
        runnable_ns, asleep_ns = runnable * each, asleep * each[:, None]
        columns = {"queue": some["queue"]}
        if self.clocks is None or not self.knows_states:
            columns["unaccounted"] = runnable_ns
        else:
            cpu, run_queue = (clock[rows] if len(clock) > 1 else clock for clock in self.clocks[:2])
            of_cpu = ratio(cpu, cpu + run_queue, 1.0)
            steps = some["cpu_step"] + some["run_queue_step"]
            if steps[0] and steps[0] >= ENOUGH_STEPS * runnable_ns[0]:
                of_cpu = ratio(some["cpu_step"], steps, of_cpu)
            columns |= {"cpu": runnable_ns * of_cpu, "run_queue": runnable_ns * (1 - of_cpu)}
        named = {event: asleep_ns[:, at] for at, event in enumerate(self.events)}
        columns |= {event: ns for event, ns in named.items() if event and event not in CLIENT and ns[0] > 0}
        columns["asleep_no_wait_event"] = named[""]
        columns["client_and_network"] = sum((named[event] for event in CLIENT if event in named), start=0 * each)
        return list(columns), np.stack(list(columns.values()), axis=1)


def ratio(part: np.ndarray, whole: np.ndarray, otherwise: np.ndarray | float) -> np.ndarray:
    """`otherwise` where the whole is nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0, part / whole, otherwise)


def _asleep_ns(profile: Document) -> int:
    return sum(profile["waits_ns"].values()) + profile["asleep_no_wait_event_ns"] + profile["client_and_network_ns"]


def _intervals(trials: list[Document], arm: _Arm | None, seed: int) -> Document | None:
    if len(trials) >= 6:
        replicates = Replicates(len(trials), seed)
        names, figures = mean_parts(trials, replicates)
        return {"clusters": len(trials), "resampled": "trials", "parts": _parts(names, figures, replicates)}
    if arm is None or arm.clusters < 6:
        return None
    # The exact parts, each moved as the divided snapshots of the chunks move.
    names, exact = mean_parts(trials, Replicates(len(trials), seed))
    parts, ns = arm.divided(arm.all)
    per_unit = ns / arm.all["units"][:, None]
    moves = {part: per_unit[:, at] / per_unit[0, at] for at, part in enumerate(parts) if per_unit[0, at]}
    still = np.append(1.0, np.full(len(per_unit) - 1, math.nan))
    figures = np.stack([exact[0, at] * moves.get(name, still) for at, name in enumerate(names)], axis=1)
    return {"clusters": arm.clusters, "resampled": "chunks", "parts": _parts(names, figures, arm.replicates)}


class _Band:
    """Units whose response times lie in neighbouring bins."""

    def __init__(self, arm: _Arm, asked: tuple[float, float]) -> None:
        units: dict[int, int] = {}
        for _, _, cell in arm.cells:
            units[cell[1]] = units.get(cell[1], 0) + cell[2]
        filled = sorted(bin_ for bin_, count in units.items() if count)
        below = np.cumsum([0, *(units[bin_] for bin_ in filled)]) / sum(units.values())
        first = min(range(len(filled)), key=lambda at: abs(below[at] - asked[0]))
        last = min(range(first + 1, len(below)), key=lambda at: abs(below[at] - asked[1]))
        self.bins = set(filled[first:last])
        self.arm = arm
        self.sums = arm.resampled(arm.sums(self.bins))
        self.parts, self.ns = arm.divided(self.sums)
        with np.errstate(invalid="ignore"):
            self.per_unit = self.ns / self.sums["units"][:, None]
            self.response = self.sums["response"] / self.sums["units"]
        self.snapshots = round(self.sums["seen"][0].sum())
        self.numbers = {
            "from_share": asked[0],
            "to_share": asked[1],
            "share": float(below[last] - below[first]),
            "low_ns": 10 ** (filled[first] / BINS_PER_DECADE) if first else None,
            "high_ns": 10 ** ((filled[last - 1] + 1) / BINS_PER_DECADE) if last < len(filled) else None,
            "units": round(self.sums["units"][0]),
            "snapshots": self.snapshots,
            "response_time_ns": float(self.response[0]),
            "parts": [],
        }
        if self.snapshots >= FEWEST_SNAPSHOTS:
            self.numbers["parts"] = _parts(self.parts, self.per_unit, arm.replicates)

    def of(self, part: str) -> np.ndarray:
        """Its time per unit."""
        return self.per_unit[:, self.parts.index(part)] if part in self.parts else np.zeros(len(self.response))


def _tail(arm: _Arm, asked: tuple[float, float]) -> Document | None:
    slow, median = _Band(arm, asked), _Band(arm, MEDIAN)
    if slow.bins & median.bins or slow.numbers["units"] < FEWEST_UNITS:
        return None
    more = slow.response - median.response
    told = min(slow.snapshots, median.snapshots) >= FEWEST_SNAPSHOTS
    return {
        "answer": "told" if told else "too_few_snapshots",
        "slow": slow.numbers,
        "median": median.numbers,
        "extra_ns": estimate(arm.replicates.stretched(more)),
        "extra": _extra(slow, median, more) if told else [],
        "resampled": "trials" if arm.by_trial else "chunks",
        "clusters": arm.clusters,
    }


def _extra(slow: _Band, median: _Band, more: np.ndarray) -> list[Document]:
    names = list(dict.fromkeys([*slow.parts, *median.parts]))
    differences = np.stack([slow.of(name) - median.of(name) for name in names], axis=1)
    replicates = slow.arm.replicates
    p_values = simultaneous_p_values(differences, replicates.clusters)
    ns, shares = replicates.stretched(differences), replicates.stretched(differences / more[:, None])
    towards = np.sign(more[0]) * ns
    groups = rank_groups(towards)
    return [
        {
            "part": names[at],
            "ns": estimate(ns[:, at]),
            "share": estimate(shares[:, at]),
            "p_value": p_values[at],
            "told": p_values[at] is not None and p_values[at] < 0.05,
            "rank_group": groups[at],
        }
        for at in order_by_size(towards)
        if ns[0, at] != 0
    ]


def _portion(arm: _Arm, of: Sequence[Document | None], units: list, response: list, queue: list) -> list[Document]:
    """The parts of something that has its snapshots by trial only."""
    trials = len(of)
    sums = {"units": np.array(units, float), "response": np.array(response, float), "queue": np.array(queue, float)}
    sums |= {name: np.zeros(trials) for name in ("cpu_step", "run_queue_step")}
    sums |= {name: np.zeros((trials, len(arm.events))) for name in COUNTED}
    for trial, one in enumerate(of):
        arm.count(sums, trial, trial, (one or {}).get("snapshots") or [])
    if sums["seen"].sum() < FEWEST_SNAPSHOTS or not sum(units):
        return []
    replicates = Replicates(trials, arm.seed)
    resampled = {name: replicates.totals(table) for name, table in sums.items()}
    names, ns = arm.divided(resampled, slice(None) if arm.by_trial else slice(1))
    with np.errstate(invalid="ignore"):
        return _parts(names, ns / resampled["units"][:, None], replicates)


def _statement_parts(arm: _Arm) -> list[Document]:
    units = [outcome["units"]["successful"] for outcome in arm.outcomes]
    return [
        {"parts": _portion(arm, of, units, [one["service_time"]["sum_ns"] if one else 0 for one in of], [0] * len(of))}
        for of in executed(arm.outcomes).values()
    ]


def _script_parts(arm: _Arm | None, outcomes: list[Document]) -> list[Document]:
    names = dict.fromkeys(script["name"] for outcome in outcomes for script in outcome["scripts"])
    queues = [outcome["queue_time"]["sum_ns"] / outcome["queue_time"]["count"] for outcome in outcomes]
    found = []
    for name in names:
        of = [next((one for one in outcome["scripts"] if one["name"] == name), None) for outcome in outcomes]
        units = [one["successful"] if one else 0 for one in of]
        response = [one["response_time"]["sum_ns"] if one else 0 for one in of]
        queue = [min(each * count, ns) for each, count, ns in zip(queues, units, response, strict=True)]
        if any(units):
            found.append({"parts": _portion(arm, of, units, response, queue) if arm else []})
    return found
