"""From the record of a calibration to its findings; the same record gives the same findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dbdyno.analysis.calibration import caching, checking, flushing, large, loading, oracle, recognising
from dbdyno.analysis.calibration.block_bootstrap import BlockBootstrap
from dbdyno.analysis.calibration.entries import DECADES, Blocks, by_level, correlation_of, latency
from dbdyno.analysis.calibration.findings import Calibration, Check, HeatMap, Latency
from dbdyno.analysis.calibration.log_bins import BINS_PER_DECADE
from dbdyno.analysis.calibration.modes import Mode, modes
from dbdyno.analysis.calibration.settings import settings
from dbdyno.analysis.documents import Document

# Above this share of all CPU time for others, or of time in which the hypervisor took CPUs, figures are indications.
MOST_OTHER_CPU, MOST_STOLEN = 0.10, 0.02
MOST_OTHER_DISK = 0.05


def analyse(record: Mapping[str, Any]) -> Calibration:
    """All findings."""
    entries: Sequence[Document] = record["entries"]
    seed, inventory = record["seed"], record["inventory"]
    idle, found_modes = _idle(entries, seed), _modes(entries)
    loads, knees = loading.loads(entries, seed), loading.knees_of(entries, seed, record["asked"].get("p99_budget_ns"))
    spans, cache = caching.spans(entries, seed), caching.cache(entries)
    sizes, burst = large.sizes(entries, seed), large.burst(entries, seed)
    flushes, groups = flushing.flushes(entries, seed), flushing.group_commits(entries, seed)
    checked = checking.checks(entries, direct=bool(inventory.get("direct")))
    quality, reasons = _quality(record, checked)
    asked = record["asked"]
    return Calibration(
        budget=record["budget"],
        measured_at=record["measured_at"],
        engine=record["engine"],
        inventory=dict(inventory),
        quality=quality,
        reasons=tuple(reasons),
        idle=idle,
        loads=loads,
        knee=knees,
        modes=found_modes,
        spans=spans,
        cache=cache,
        sizes=sizes,
        burst=burst,
        flush=flushes,
        group_commit=groups,
        calibrate_io=oracle.calibrate_io(loads, sizes, knees, asked["num_disks"], asked["max_latency_ms"]),
        settings=settings(
            inventory, record["engine"], idle, loads, knees, sizes, flushes, groups, sound=quality == "sound"
        ),
        verdicts=recognising.verdicts(
            inventory,
            idle,
            found_modes,
            spans,
            cache,
            burst,
            flushes,
            _zero_share(entries),
        ),
        checks=checked,
        heat_maps=tuple(_heat_maps(entries)),
        engine_ns_per_io=_own_cost(record.get("own_cost") or []),
        file_bytes=record["file_bytes"],
        bytes_read=sum(entry["warmed_bytes"] + _moved(entry, "reads_in_all") for entry in entries),
        bytes_written=record["filled_bytes"] + sum(_moved(entry, "writes_in_all") for entry in entries),
        warnings=tuple(record["warnings"]),
    )


def _idle(entries: Sequence[Document], seed: int) -> Latency | None:
    found = by_level(entries, "idle", "depth")
    if not found:
        return None
    [blocks] = found.values()
    return latency(blocks, BlockBootstrap.of(len(blocks.entries), correlation_of([blocks]), seed))


def _modes(entries: Sequence[Document]) -> tuple[Mode, ...]:
    """Of all reads that were alone on the device, over the whole file."""
    rows: list[list[int]] = []
    step = 0
    for entry in entries:
        if entry["phase"] == "idle" or (entry["phase"] == "sweep" and entry["level"]["depth"] == 1):
            rows += [[step + at, bin_, count] for at, bin_, count in entry["outcome"]["heat"]]
            step += len(entry["outcome"]["series"]["ios"])
    found = modes(rows) if rows else None
    return () if found is None else found.modes


def _quality(record: Mapping[str, Any], checked: Sequence[Check]) -> tuple[str, list[str]]:
    """Whether the machine let anything be concluded."""
    noise: Mapping[str, float] = record.get("noise") or {}
    reasons = [
        f"{text}: {noise[key]:.0%}"
        for key, most, text in (
            ("other_cpu_share", MOST_OTHER_CPU, "CPU that other processes used"),
            ("stolen_share", MOST_STOLEN, "CPU that the hypervisor took away"),
            ("other_disk_share", MOST_OTHER_DISK, "of the device's work was that of others"),
        )
        if noise.get(key, 0.0) > most
    ]
    broken = [f"{check.name}: {check.seen}" for check in checked if not check.holds]
    if broken:
        return "no conclusion", [*broken, *reasons]
    if reasons or record["interrupted"]:
        return "indicative", [*reasons, *(["interrupted"] if record["interrupted"] else [])]
    return "sound", []


def _zero_share(entries: Sequence[Document]) -> float:
    looked = [entry["outcome"] for entry in entries if entry["outcome"].get("zero_response_time")]
    reads = sum(outcome["reads"] for outcome in looked)
    return sum(outcome["zero_response_time"]["count"] for outcome in looked) / reads if reads else 0.0


def _heat_maps(entries: Sequence[Document]) -> list[HeatMap]:
    found = by_level(entries, "sweep", "depth")
    maps = []
    if found:
        counts = np.stack([blocks.counts.sum(axis=0) for blocks in found.values()])
        maps.append(HeatMap("by load", tuple(map(str, found)), _cells(counts)))
    burst = next((entry for entry in entries if entry["phase"] == "burst"), None)
    if burst is not None:
        series = burst["outcome"]["series"]
        names = tuple(f"{at * series['step_ns'] / 1e9:g} s" for at in range(len(series["ios"])))
        cells = tuple(map(tuple, burst["outcome"]["heat"]))
        maps.append(HeatMap("over time, all the device gives", names, cells, series["step_ns"]))
    idle = Blocks(tuple(entry for entry in entries if entry["phase"] == "idle"))
    if idle.entries:
        counts = np.concatenate([_by_step(outcome) for outcome in idle.outcomes])
        steps = tuple(str(at) for at in range(len(counts)))
        step_ns = idle.outcomes[0]["series"]["step_ns"]
        maps.append(HeatMap("over time, one read at a time", steps, _cells(counts), step_ns))
    return maps


def _by_step(outcome: Document) -> np.ndarray[Any, np.dtype[np.int64]]:
    counts = np.zeros((len(outcome["series"]["ios"]), DECADES * BINS_PER_DECADE), dtype=np.int64)
    rows = np.asarray(outcome["heat"], dtype=np.int64).reshape(-1, 3)
    counts[rows[:, 0], rows[:, 1]] += rows[:, 2]
    return counts


def _cells(counts: np.ndarray[Any, np.dtype[np.int64]]) -> tuple[tuple[int, int, int], ...]:
    columns, bins = np.nonzero(counts)
    every = zip(columns.tolist(), bins.tolist(), counts[columns, bins].tolist(), strict=True)
    return tuple(every)


def _own_cost(cells: Sequence[Document]) -> float | None:
    """CPU of the loop for an I/O that costs nothing, the least of all depths."""
    costs = [
        entry["outcome"]["cpu_ns"] / entry["outcome"]["reads_in_all"]
        for entry in cells
        if entry["outcome"]["reads_in_all"]
    ]
    return min(costs, default=None)


def _moved(entry: Document, key: str) -> int:
    if "load" in entry["work"]:
        return int(entry["outcome"][key] * entry["work"]["io_bytes"])
    return len(entry["outcome"]["times_ns"]) * entry["work"]["io_bytes"] if key == "writes_in_all" else 0
