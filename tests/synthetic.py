"""Synthetic runs: the journal bodies of a `commit-write` run, from a few parameters and a seed.

    run, machine, trials = synthetic.run(arms=8, blocks=10, seed=1)

Figures are those of a small virtual machine with a disk that flushes in about 0.8 ms.
Everything is a plain JSON value, and each call returns values of its own: change what a test needs changed.
`SHAPES` says what one unit of each arm costs; pass other shapes to plant another truth.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import pickle
from collections.abc import Collection, Mapping
from typing import Any

import cell_text
import hdr
import numpy as np

Document = dict[str, Any]

WINDOW_NS = 1_000_000_000
SERIES_STEP_NS = 100_000_000
EXPOSURE_PERIOD_NS = 10_000_000
FIRST_LSN = 0x1A000000


@dataclasses.dataclass(frozen=True)
class Shape:
    """What one unit of an arm costs, in ns, and how its WAL reaches the disk."""

    cpu: int
    run_queue: int
    waits: Mapping[str, int]
    asleep_no_wait_event: int = 4_000
    client_and_network: int = 30_000
    unaccounted: int = 9_000
    flush_period_ns: int = 3_000_000
    flush_time_ns: int = 800_000
    wal_bytes: int = 290
    spread: float = 0.45
    rows_per_unit: int | None = None

    @property
    def response_ns(self) -> int:
        """The mean response time: the sum of the parts."""
        known = self.cpu + self.run_queue + self.asleep_no_wait_event + self.client_and_network + self.unaccounted
        return known + sum(self.waits.values())


def _io_wait(sync: int, queue: int, lock: int, **more: int) -> Shape:
    waits = {"IO:WalSync": sync, "LWLock:WALWrite": queue, "Lock:transactionid": lock, "IO:WalWrite": 14_000}
    return Shape(cpu=105_000, run_queue=62_000, waits=waits, **more)


SHAPES: dict[str, Shape] = {
    "io-bound/wait-immediate": _io_wait(1_020_000, 1_930_000, 126_000),
    "io-bound/wait-batch": _io_wait(980_000, 1_720_000, 120_000, asleep_no_wait_event=118_000),
    "io-bound/nowait-immediate": Shape(
        cpu=135_000, run_queue=358_000, waits={"LWLock:WALInsert": 22_000, "Lock:transactionid": 31_000},
        flush_period_ns=2_500_000, flush_time_ns=900_000, spread=0.7,
    ),
    "io-bound/nowait-batch": Shape(
        cpu=121_000, run_queue=331_000, waits={"LWLock:WALInsert": 15_000, "Lock:transactionid": 27_000},
        flush_period_ns=200_000_000, flush_time_ns=2_000_000, spread=0.7,
    ),
    "cpu-bound/wait-immediate": Shape(
        cpu=6_420_000, run_queue=9_400_000, waits={"IO:WalSync": 400_000, "LWLock:WALWrite": 52_000}, spread=0.2
    ),
    "cpu-bound/wait-batch": Shape(
        cpu=6_430_000, run_queue=9_420_000, waits={"IO:WalSync": 391_000, "LWLock:WALWrite": 40_000}, spread=0.2
    ),
    "cpu-bound/nowait-immediate": Shape(
        cpu=6_400_000, run_queue=9_580_000, waits={"LWLock:WALInsert": 2_000}, spread=0.2,
        flush_period_ns=2_500_000, flush_time_ns=900_000,
    ),
    "cpu-bound/nowait-batch": Shape(
        cpu=6_390_000, run_queue=9_530_000, waits={"LWLock:WALInsert": 2_000}, spread=0.2,
        flush_period_ns=200_000_000, flush_time_ns=2_000_000,
    ),
}  # fmt: skip

SETTINGS: dict[str, dict[str, str]] = {
    "wait-immediate": {"synchronous_commit": "on", "commit_delay": "0"},
    "wait-batch": {"synchronous_commit": "on", "commit_delay": "410"},
    "nowait-immediate": {"synchronous_commit": "off", "wal_writer_delay": "1ms", "wal_writer_flush_after": "0"},
    "nowait-batch": {"synchronous_commit": "off"},
}


def run(
    arms: int = 8,
    blocks: int = 10,
    seed: int = 1,
    *,
    shapes: Mapping[str, Shape] | None = None,
    metric: str = "throughput_per_s",
    margin: float = 0.03,
    noise: float = 0.03,
    clients: int = 5,
    failed: Collection[tuple[int, str]] = (),
    fixed_units: int | None = None,
) -> tuple[Document, Document, list[Document]]:
    """A whole run: the bodies of its `run`, `machine` and `trial` records.

    Args:
        arms: the first so many of `shapes` (2, 4 and 8 make sense with the built-in ones).
        shapes: arm name to shape; the first arm of each load is the baseline of that load.
        noise: standard deviation of the log of one trial's speed; blocks drift three times as much.
        failed: (block, arm) whose first attempt fails; the block is then repeated at the end.
        fixed_units: each trial does so many units; otherwise as many as the window holds.
    """
    arguments = pickle.dumps((arms, blocks, seed, shapes, metric, margin, noise, clients, tuple(failed), fixed_units))
    made: tuple[Document, Document, list[Document]] = pickle.loads(_made(arguments))
    return made


# A trial takes 15 ms to be made, and many tests begin with the same run. So many runs take some 100 MB.
@functools.lru_cache(maxsize=16)
def _made(arguments: bytes) -> bytes:
    return pickle.dumps(_run(*pickle.loads(arguments)))


def _run(
    arms: int, blocks: int, seed: int, shapes: Mapping[str, Shape] | None, metric: str, margin: float, noise: float,
    clients: int, failed: Collection[tuple[int, str]], fixed_units: int | None,
) -> tuple[Document, Document, list[Document]]:  # fmt: skip
    chosen = dict(list((SHAPES if shapes is None else shapes).items())[:arms])
    random = np.random.default_rng(seed)
    schedule = _schedule(list(chosen), blocks, random)
    document = _run_document(chosen, blocks, seed, metric, margin, clients, schedule)
    for arm in document["arms"]:
        arm["fixed_units"] = fixed_units
    drift = np.cumsum(random.normal(0.0, noise, blocks)) * 3

    def trial(place: Document, attempt: int) -> Document:
        slowdown = drift[place["block"]] + random.normal(0.0, noise)
        return _trial(place, attempt, chosen[place["arm"]], clients, slowdown, random, fixed_units)

    trials = [trial(place, 0) for place in schedule]
    for one in trials:
        if (one["block"], one["arm"]) in failed:
            one.update(status="failed", reason="server closed the connection unexpectedly")
            del one["outcome"]
    for block in sorted({block for block, _ in failed}):
        repeated = [{**place, "trial": len(schedule) + place["trial"]} for place in schedule if place["block"] == block]
        trials += [trial(place, 1) for place in repeated]
    return document, machine(), trials


def machine() -> Document:
    """The `machine` body of an ordinary small server without warnings."""
    return {
        "host": "3f1c7a90", "cpus": 2, "cpu_model": "AMD EPYC 7763", "memory_bytes": 8_326_848_512,
        "kernel": "6.12.41", "virtualisation": "kvm",
        "data_directory": {
            "file_system": "ext4", "device": "vda", "rotational": False,
            "mount_options": "rw,relatime", "flush_time_ns_p50": 812_345,
        },
        "server": {
            "version": "18.6", "version_number": 180006, "settings": {"shared_buffers": "256MB"},
            "embedded": True, "same_host": True,
        },
        "instrument": {
            "measured_at": "2026-11-20T05:00:00+00:00", "server_version": "18.6", "verdict": "holds",
            "tolerance": 0.03, "planted": 20, "found": 20,
            "cost": {
                "clients": 16, "cpus": 2, "pairs": 24, "route": "mapped",
                "throughput": {"estimate": 0.997, "low": 0.991, "high": 1.003},
                "snapshots_per_s": 1000.0, "host_share": 0.008, "cpu_ns_per_sweep": 16_000.0,
            },
        },
        "warnings": [],
    }  # fmt: skip


def _schedule(arms: list[str], blocks: int, random: np.random.Generator) -> list[Document]:
    places: list[Document] = []
    for block in range(blocks):
        for position, place in enumerate(random.permutation(len(arms))):
            places.append({"trial": len(places), "block": block, "position": position, "arm": arms[place]})
    return places


def _run_document(
    shapes: Mapping[str, Shape], blocks: int, seed: int, metric: str, margin: float, clients: int,
    schedule: list[Document],
) -> Document:  # fmt: skip
    return {
        "format": 1, "run_id": f"commit-write-20261120T060000Z-{seed}",
        "dbdyno": {"version": "0.1.0", "build_profile": "release"},
        "experiment": "commit-write", "question": "What does relaxing commit durability buy, and what does it risk?",
        "metric": metric, "margin": margin, "seed": seed, "blocks": blocks, "quick": False,
        "started_at": "2026-11-20T06:00:00.000Z",
        "arms": [_arm(arm, shapes, clients) for arm in shapes],
        "left_out": [], "schedule": schedule, "measured": {"flush_time_ns_p50": 812_345},
    }  # fmt: skip


def _arm(arm: str, shapes: Mapping[str, Shape], clients: int) -> Document:
    load, _, durability = arm.partition("/")
    baseline = next(other for other in shapes if other.partition("/")[0] == load)
    return {
        "arm": arm, "levels": {"load": load, "durability": durability},
        "baseline": None if baseline == arm else baseline, "clients": clients, "threads": 1,
        "arrival": {"kind": "closed", "think_time_ns": 0}, "scripts": [f"{load}.sql"],
        "rows_per_unit": shapes[arm].rows_per_unit, "settings": {},
        "session": SETTINGS.get(durability, {}),
    }  # fmt: skip


def _trial(
    place: Document, attempt: int, shape: Shape, clients: int, slowdown: float, random: np.random.Generator,
    fixed_units: int | None,
) -> Document:  # fmt: skip
    stretch = float(np.exp(slowdown))
    count = fixed_units or max(20, round(clients * WINDOW_NS / (shape.response_ns * stretch)))
    times = random.lognormal(0.0, shape.spread, count)
    response_ns = np.maximum(1, times / times.mean() * shape.response_ns * stretch).astype(np.int64)
    wal_bytes = round(count * shape.wal_bytes * 1.3)
    return {
        **place, "attempt": attempt, "started_at": "2026-11-20T06:00:05.000Z", "status": "ok", "reason": None,
        "preparation": {"apply_ns": 21_000_000, "reset_ns": 84_000_000},
        "settings": dict(SETTINGS.get(place["arm"].partition("/")[2], {})),
        "server": {
            "wal_bytes": wal_bytes, "wal_records": round(count * 1.3 * 4),
            "wal_full_page_images": round(count * 1.3 * 0.004), "commits": round(count * 1.3),
        },
        "outcome": {
            **_outcome(shape, clients, response_ns, random),
            **({} if fixed_units is None else _fixed_work(response_ns, clients)),
        },
    }  # fmt: skip


def _fixed_work(response_ns: np.ndarray, clients: int) -> Document:
    """What differs where the work is fixed: the clients are done when the units are, and the window is a limit."""
    count, total = len(response_ns), int(response_ns.sum())
    elapsed_ns = total // min(clients, count)
    return {
        "fixed_units": count, "units_with_warm_up": count, "window_ns": 3_600 * WINDOW_NS, "elapsed_ns": elapsed_ns,
        "throughput_per_s": count / elapsed_ns * 1e9, "mean_in_flight": total / elapsed_ns,
        "series": {"step_ns": SERIES_STEP_NS, "units": [count], "response_time_sum_ns": [total], "failed": [0]},
        "exposure": None,
    }  # fmt: skip


def _outcome(shape: Shape, clients: int, response_ns: np.ndarray, random: np.random.Generator) -> Document:
    count, total = len(response_ns), int(response_ns.sum())
    throughput = clients * count / (total * 1.004) * 1e9
    clock = {"count": count, "sum_ns": total, "histogram": hdr.encode(response_ns)}
    driver_cpu_ns = count * 4_200
    cells, counted = _cells(shape, response_ns)
    profile = {**_profile(shape, total), **counted, "cells": cell_text.pack(cells)}
    seen = _all_snapshots(cells, len(counted["events"]))
    statement = {
        "line": 3, "text": "UPDATE counters SET n = n + 1 WHERE id = :id", "service_time": dict(clock),
        "snapshots": seen,
    }  # fmt: skip
    return {
        "started_at_ns": 1_000_000, "window_ns": WINDOW_NS, "elapsed_ns": WINDOW_NS + int(response_ns[-1]),
        "units": {
            "successful": count, "skipped": 0, "failed": 0, "retried": 0, "late": 0,
            "failed_serialization": 0, "failed_deadlock": 0, "failed_other": 0, "failed_unfinished": 0,
        },
        "throughput_per_s": throughput, "mean_in_flight": throughput * total / count / 1e9 * 1.002,
        "response_time": clock, "service_time": dict(clock),
        "queue_time": {"count": count, "sum_ns": 0, "histogram": hdr.encode(np.zeros(count))},
        "scripts": [{
            "name": "single-row.sql", "successful": count, "failed": 0, "response_time": dict(clock),
            "statements": [statement], "snapshots": seen,
        }],
        "series": _series(response_ns, random),
        "profile": profile,
        "background": [{
            "pid": 4712, "backend_type": "walwriter", "cpu_ns": 9_000_000, "run_queue_ns": 4_000_000,
            "waits_ns": {"Activity:WalWriterMain": 880_000_000, "IO:WalSync": 107_000_000},
            "asleep_no_wait_event_ns": 0,
        }],
        "driver": {
            "cpu_ns": driver_cpu_ns, "threads": 1, "busiest_thread_share": driver_cpu_ns / WINDOW_NS,
            "lateness_ns": {"p50": 2_000, "p99": 9_000, "max": 41_000},
        },
        "exposure": {"samples": _exposure(shape, throughput, random)},
    }  # fmt: skip


def _profile(shape: Shape, total: int) -> Document:
    scale = total / shape.response_ns
    parts = {
        "queue_ns": 0, "cpu_ns": round(shape.cpu * scale), "run_queue_ns": round(shape.run_queue * scale),
        "asleep_no_wait_event_ns": round(shape.asleep_no_wait_event * scale),
        "client_and_network_ns": round(shape.client_and_network * scale),
    }  # fmt: skip
    waits = {event: round(ns * scale) for event, ns in shape.waits.items()}
    return {
        "route": "mapped", "server_clocks": "schedstat", **parts, "waits_ns": waits,
        "unaccounted_ns": total - sum(parts.values()) - sum(waits.values()), "total_ns": total,
        "snapshots": 1_000, "snapshots_asleep": 700, "sampler_cpu_ns": 6_000_000, "sampler_elapsed_ns": 1_000_000_000,
        "sampler_wake_ups": 1_000,
    }  # fmt: skip


PERIOD_NS = 1_000_000
CHUNKS = 10
LOOKED_SHARE = 0.3
# More than there are in a lifetime.
MOST_BINS = 1_000


def _cells(shape: Shape, response_ns: np.ndarray) -> tuple[list[cell_text.Cell], Document]:
    """The snapshots of a trial: each unit's time by its parts, where the longest wait grows faster than the unit.

    The cells, and what else a profile says of how it was looked.
    """
    random = np.random.default_rng(int(response_ns.sum()))
    bins = np.floor(np.log10(response_ns) * 50).astype(np.int64)
    chunks = np.arange(len(response_ns)) * CHUNKS // len(response_ns)
    found, place = np.unique(chunks * MOST_BINS + bins, return_inverse=True)
    units = np.bincount(place)
    total = np.bincount(place, response_ns)
    parts = {**shape.waits, "": shape.asleep_no_wait_event, "Client:ClientRead": shape.client_and_network}
    events = sorted(parts)
    shares = np.array([[shape.cpu + shape.run_queue, *(parts[event] for event in events)]] * len(units), dtype=float)
    longest = 1 + events.index(max(shape.waits, key=lambda event: shape.waits[event], default=""))
    shares[:, longest] *= total / units / response_ns.mean()
    seen = random.multinomial(random.poisson(total / PERIOD_NS), shares / shares.sum(axis=1, keepdims=True))
    looked = random.binomial(seen, LOOKED_SHARE)
    steps = np.outer(looked[:, 0] * PERIOD_NS, [shape.cpu, shape.run_queue]) / (shape.cpu + shape.run_queue)
    columns = (
        *np.divmod(found, MOST_BINS),
        units,
        total.astype(np.int64),
        np.zeros_like(units),
        *steps.T.astype(np.int64),
    )
    figures = zip(*(column.tolist() for column in columns), strict=True)
    snapshots = map(_snapshots, itertools.repeat(events), seen.tolist(), looked.tolist())
    cells = [[*of_cell, rows] for of_cell, rows in zip(figures, snapshots, strict=True)]
    return cells, {
        "period_ns": PERIOD_NS, "snapshots": int(seen.sum()), "looked": int(looked.sum()),
        "chunk_ns": WINDOW_NS // CHUNKS, "bins_per_decade": 50,
        "voluntary_switches": 4 * len(response_ns), "involuntary_switches": len(response_ns) // 2,
        "block_io_delay_ns": None, "stolen_ns": None, "events": events,
    }  # fmt: skip


def _snapshots(events: list[str], seen: list[int], looked: list[int]) -> list[list[int]]:
    """The rows of one cell; behind those of backends on a CPU or in line for one stand those of each event."""
    return [
        [event, seen[1 + event], looked[1 + event], looked[1 + event]] if name else _without_event(event, seen, looked)
        for event, name in enumerate(events)
        if seen[1 + event] or not name
    ]


def _without_event(event: int, seen: list[int], looked: list[int]) -> list[int]:
    """Backends without a wait event: those on a CPU or in line for one, and those asleep in an unnamed place."""
    asleep = 1 + event
    return [event, seen[0] + seen[asleep], looked[0] + looked[asleep], looked[asleep]]


def _all_snapshots(cells: list[cell_text.Cell], events: int) -> list[list[int]]:
    """Those of all cells by event."""
    rows = np.array([row for *_, snapshots in cells for row in snapshots], dtype=np.int64)
    counts = np.zeros((events, 3), dtype=np.int64)
    np.add.at(counts, rows[:, 0], rows[:, 1:])
    return [[event, *three] for event, three in enumerate(counts.tolist())]


def _series(response_ns: np.ndarray, random: np.random.Generator) -> Document:
    steps = WINDOW_NS // SERIES_STEP_NS
    step_of = random.integers(0, steps, len(response_ns))
    return {
        "step_ns": SERIES_STEP_NS,
        "units": np.bincount(step_of, minlength=steps).tolist(),
        "response_time_sum_ns": [int(response_ns[step_of == step].sum()) for step in range(steps)],
        "failed": [0] * steps,
    }


def mix(trials: list[Document], kinds: Mapping[str, tuple[int, int]]) -> None:
    """Change trials into those of a mix: of each kind so many units, all with the same response time in ns."""
    for trial in trials:
        trial["outcome"]["scripts"] = [
            {"name": name, "successful": count, "failed": 0, "statements": [], "response_time": _constant(count, ns)}
            for name, (count, ns) in kinds.items()
        ]


def _constant(count: int, ns: int) -> Document:
    return {"count": count, "sum_ns": count * ns, "histogram": hdr.encode(np.full(count, ns))}


PAGE = 8192
PLAN = {
    "script": "scan.sql", "line": 1, "shape": "Aggregate > Seq Scan on web_returns", "nodes": ["Aggregate", "Seq Scan"],
    "explain": None,
}  # fmt: skip


def add_evidence(trials: list[Document], *, pages: int = 1_000, cold: bool = True) -> None:
    """Give each trial what a server on this host leaves behind: a unit looks at so many pages, cold or cached.

    The server reads 16 pages with a request, and the device brings twice as many bytes: the kernel reads ahead.
    """
    for trial in trials:
        units = trial["outcome"].setdefault("units_with_warm_up", trial["outcome"]["units"]["successful"])
        read = pages * units if cold else 0
        trial["server"].update(
            buffer_hits=pages * units - read, buffer_reads=read, read_operations=read // 16, read_bytes=read * PAGE,
            temp_bytes=0, wal_bytes=300 * units,
        )  # fmt: skip
        trial["device"] = {
            "name": "vda", "reads": read // 8, "read_bytes": 2 * read * PAGE, "writes": 4 * units,
            "write_bytes": 4 * units * PAGE, "flushes": 2 * units,
        }  # fmt: skip
        trial["host"] = {
            "cpu_user_share": 0.5, "cpu_system_share": 0.25, "cpu_io_wait_share": 0.125, "cpu_steal_share": 0.01,
            "cpu_idle_share": 0.115,
        }  # fmt: skip
        trial["reset"] = [
            {"step": "vacuum", "ns": 80_000_000},
            {"step": "cold-cache", "ns": 900_000_000, "resident_bytes": 0, "how": ["posix_fadvise"]},
        ]
        trial["outcomes"] = {"pages": {"before": 1_000, "after": 2_000}, "dead tuples": {"before": 0, "after": 50}}
        trial["invariants"] = {"stock is never negative": 0}
        trial["plans"] = [dict(PLAN)]
        trial["relation_bytes"] = {"web_returns": pages * PAGE}
        trial["setting_origins"] = {name: {"source": "session", "pending_restart": False} for name in trial["settings"]}
        trial["server_log"] = []


def storm(trial: Document) -> None:
    """Change a trial into one whose window lies in the storm of page images after a checkpoint."""
    trial["server"]["wal_full_page_images"] *= 100
    for sample in trial["outcome"]["exposure"]["samples"]:
        sample[1:] = [FIRST_LSN + (position - FIRST_LSN) * 10 for position in sample[1:]]


def _exposure(shape: Shape, throughput: float, random: np.random.Generator) -> list[list[int]]:
    """Insert grows evenly; a flush starts every period and covers, when it ends, what was inserted at its start."""
    bytes_per_ns = throughput * shape.wal_bytes / 1e9
    now = np.arange(0, WINDOW_NS, EXPOSURE_PERIOD_NS)
    first_flush = -int(random.integers(0, shape.flush_period_ns)) - shape.flush_period_ns - shape.flush_time_ns
    finished = (now - shape.flush_time_ns - first_flush) // shape.flush_period_ns
    flushed_at = first_flush + finished * shape.flush_period_ns
    insert = FIRST_LSN + (now * bytes_per_ns).astype(np.int64)
    flush = FIRST_LSN + np.floor(flushed_at * bytes_per_ns).astype(np.int64)
    return [[int(a), int(b), int(c)] for a, b, c in zip(now, insert, flush, strict=True)]
