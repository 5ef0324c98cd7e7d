"""Records of server profiles made without a server: by hand, for exact expectations, and by simulation.

`record` builds one from the cells of its steps. `simulate` lets sessions live, so that every nanosecond of theirs is
known, and watches them as the real watch does: event and state in every sweep, whether a task slept in some.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

SECOND = 1_000_000_000
MS = 1_000_000


@dataclasses.dataclass(frozen=True)
class Stretch:
    """One piece of a session's life: `kind` is cpu, queue or sleep; lengths are exponential around the mean."""

    state: str | None
    query: str | None
    event: str
    kind: str
    mean_ns: float
    fixed: bool = False


@dataclasses.dataclass(frozen=True)
class Life:
    """What one process repeats."""

    stretches: Sequence[Stretch]
    backend_type: str = "client backend"
    user: str | None = "app"
    database: str | None = "shop"
    application: str | None = "web"
    leader: int | None = None
    clock: bool = True


def process(pid: int, elapsed_ns: int, **more: Any) -> dict[str, Any]:
    """An entry of `processes`."""
    return {
        "pid": pid,
        "backend_type": "client backend",
        "leader_pid": None,
        "first_ns": 0,
        "last_ns": elapsed_ns,
        "clock": "task-clock",
        "cpu_ns": 0,
        "run_queue_ns": 0,
        "voluntary_switches": None,
        "involuntary_switches": None,
        "block_io_delay_ns": None,
    } | more


def session(pid: int, elapsed_ns: int, **more: Any) -> dict[str, Any]:
    """An entry of `sessions.processes`."""
    return {
        "pid": pid,
        "first_ns": 0,
        "last_ns": elapsed_ns,
        "backend_type": "client backend",
        "user": "app",
        "database": "shop",
        "application": "web",
        "client": "local",
        "leader_pid": None,
    } | more


def step(
    number: int,
    cells: Sequence[Sequence[Any]],
    clocks: Sequence[Sequence[Any]] = (),
    *,
    sweeps: int = 1000,
    step_ns: int = SECOND,
    episodes: Sequence[Sequence[int]] = (),
) -> dict[str, Any]:
    """A step of a watch."""
    return {
        "step": number,
        "from_ns": number * step_ns,
        "to_ns": (number + 1) * step_ns,
        "sweeps": sweeps,
        "cells": [list(cell) for cell in cells],
        "clocks": [list(clock) for clock in clocks],
        "episodes": [list(episode) for episode in episodes],
    }


def record(
    steps: Sequence[dict[str, Any]],
    processes: Sequence[dict[str, Any]],
    events: Sequence[str],
    *,
    sessions: dict[str, Any] | None = None,
    counters: dict[str, Any] | None = None,
    route: str = "mapped",
    cpus: int | None = 2,
    **watch: Any,
) -> dict[str, Any]:
    """A whole record."""
    elapsed_ns = steps[-1]["to_ns"] if steps else 0
    return {
        "format": 1,
        "target": {"kind": "url", "name": "db.example.com/shop", "same_host": route != "sql"},
        "server": {"version": "18.6", "cpus": cpus, "settings": {"track_io_timing": "off"}},
        "watch": {
            "format": 1,
            "route": route,
            "note": None,
            "ended": "time",
            "started_at_ns": 1_800_000_000 * SECOND,
            "elapsed_ns": elapsed_ns,
            "sweeps": sum(one["sweeps"] for one in steps),
            "period_ns": SECOND // 1000,
            "sampler": {"cpu_ns": 12 * MS, "cpu_ns_per_sweep": 4_000, "host_share": 0.004, "budget": 0.01},
            "version": 18,
            "events": list(events),
            "processes": list(processes),
            "steps": list(steps),
            "snapshots_path": None,
        }
        | watch,
        "sessions": sessions
        or {
            "polls": 2 * len(steps),
            "cpu_ns_server": None,
            "processes": [
                session(one["pid"], elapsed_ns) for one in processes if one["backend_type"] == "client backend"
            ],
            "queries": [],
            "seen": [],
            "blocking": [],
            "note": None,
        },
        "counters": counters or {},
        "stacks": None,
    }


def simulate(
    lives: Sequence[Life],
    *,
    seconds: int = 20,
    seed: int = 1,
    period_ns: float = MS,
    looks: int = 8,
    clocks: bool = True,
    route: str = "mapped",
) -> tuple[dict[str, Any], dict[tuple[str | None, str | None, str], float]]:
    """A record, and the truth: the time of each (query, state, part), all processes of sessions together."""
    random = np.random.default_rng(seed)
    elapsed = seconds * SECOND
    sweeps = _sweeps(random, elapsed, period_ns)
    step_of = (sweeps // SECOND).astype(int)
    edges = np.arange(seconds + 1) * SECOND
    events = list(dict.fromkeys(["", *(one.event for life in lives for one in life.stretches)]))
    truth: dict[tuple[str | None, str | None, str], float] = {}
    cells: list[list[list[Any]]] = [[] for _ in range(seconds)]
    ticks: list[list[list[Any]]] = [[] for _ in range(seconds)]
    for number, life in enumerate(lives):
        kinds, ends = _live(random, life, elapsed)
        here = kinds[np.searchsorted(ends, sweeps, side="right")]
        looked = (np.arange(len(sweeps)) * looks + np.arange(looks)[:, None]) % len(lives) == number
        looked_at = looked.any(axis=0) if looks else np.zeros(len(sweeps), dtype=bool)
        for place, one in enumerate(life.stretches):
            _count(cells, number, one, events, step_of, here == place, looked_at)
            if life.backend_type in ("client backend", "parallel worker"):
                part = _part(one)
                key = (one.query, one.state, part)
                truth[key] = truth.get(key, 0.0) + float(_spent(kinds, ends, [place], [0, elapsed])[0])
        if clocks and life.clock:
            spent = [
                _spent(kinds, ends, [i for i, one in enumerate(life.stretches) if one.kind == kind], edges)
                for kind in ("cpu", "queue")
            ]
            for at in range(seconds):
                ticks[at].append([number, round(spent[0][at]), round(spent[1][at])])
    steps = [step(at, _merged(cells[at]), ticks[at], sweeps=int((step_of == at).sum())) for at in range(seconds)]
    processes = [
        process(
            1000 + number,
            elapsed,
            backend_type=life.backend_type,
            leader_pid=None if life.leader is None else 1000 + life.leader,
            clock="task-clock" if clocks and life.clock else None,
        )
        for number, life in enumerate(lives)
    ]
    known = [
        session(1000 + number, elapsed, user=life.user, database=life.database, application=life.application)
        for number, life in enumerate(lives)
        if life.backend_type == "client backend"
    ]
    sessions = {"polls": 2 * seconds, "cpu_ns_server": None, "processes": known, "queries": [], "seen": []}
    sessions |= {"blocking": [], "note": None}
    return record(steps, processes, events, sessions=sessions, route=route, period_ns=round(period_ns)), truth


def _sweeps(random: np.random.Generator, elapsed: int, period_ns: float) -> Any:
    """Jittered instants."""
    gaps = random.uniform(0.5, 1.5, int(elapsed / period_ns * 1.1) + 10) * period_ns
    at = np.cumsum(gaps)
    return at[at < elapsed]


def _live(random: np.random.Generator, life: Life, elapsed: int) -> tuple[Any, Any]:
    """Which stretch follows which, and when each ends, until past the end."""
    means = np.array([one.mean_ns for one in life.stretches])
    rounds = int(elapsed / means.sum() * 1.5) + 50
    lengths = random.exponential(1.0, (rounds, len(means)))
    lengths[:, [one.fixed for one in life.stretches]] = 1.0
    ends = np.cumsum((lengths * means).ravel())
    kinds = np.tile(np.arange(len(means)), rounds)
    assert ends[-1] > elapsed
    return kinds, ends


def _spent(kinds: Any, ends: Any, chosen: Sequence[int], moments: Any) -> Any:
    """How long the chosen stretches lasted between each moment and the next."""
    lengths = np.diff(ends, prepend=0.0)
    so_far = np.cumsum(np.where(np.isin(kinds, chosen), lengths, 0.0))
    return np.diff(np.interp(moments, np.concatenate([[0.0], ends]), np.concatenate([[0.0], so_far])))


def _part(one: Stretch) -> str:
    if one.kind != "sleep":
        return {"cpu": "cpu", "queue": "run_queue"}[one.kind]
    if one.event == "":
        return "asleep_no_wait_event"
    return "client_and_network" if one.event.startswith("Client:") else one.event


def _count(
    cells: list[list[list[Any]]], number: int, one: Stretch, events: list[str], step_of: Any, here: Any, looked: Any
) -> None:
    steps = len(cells)
    seen = np.bincount(step_of[here], minlength=steps)
    seen_looked = np.bincount(step_of[here & looked], minlength=steps)
    for at in range(steps):
        if seen[at]:
            asleep = int(seen_looked[at]) if one.kind == "sleep" else 0
            row = [number, one.query, one.state, events.index(one.event), int(seen[at]), int(seen_looked[at]), asleep]
            cells[at].append(row)


def _merged(cells: list[list[Any]]) -> list[list[Any]]:
    """Cells of one key in one: a wait event is the same while its process sleeps and while it wakes up."""
    found: dict[tuple[Any, ...], list[int]] = {}
    for *key, seen, looked, asleep in cells:
        counts = found.setdefault(tuple(key), [0, 0, 0])
        counts[:] = [counts[0] + seen, counts[1] + looked, counts[2] + asleep]
    return [[*key, *counts] for key, counts in found.items()]
