"""From the record of a calibration to its findings; the same record gives the same findings."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dbdyno.analysis.calibration import (
    caching,
    ceilings,
    checking,
    flushing,
    guarding,
    large,
    loading,
    mixing,
    oracle,
    per_file,
    recognising,
    resting,
    stalling,
)
from dbdyno.analysis.calibration.block_bootstrap import BlockBootstrap
from dbdyno.analysis.calibration.database import analyse as through_database
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
    growing, mixed = flushing.growing(entries, seed), mixing.mixed(entries, seed)
    rested, stalls = resting.rested(entries, seed), stalling.stalls(entries)
    # An entry that was ended within its window holds for less than it says.
    whole = [entry for entry in entries if entry["phase"] != "cut_short"]
    checked = checking.checks(whole, direct=bool(inventory.get("direct")))
    quality, reasons = quality_of(record, checked)
    database = through_database.analyse(record.get("database"), seed)
    asked = record["asked"]
    found = Calibration(
        budget=record["budget"],
        measured_at=record["measured_at"],
        engine=record["engine"],
        inventory=dict(inventory),
        quality=quality,
        reasons=tuple(reasons),
        idle=idle,
        rested=rested,
        loads=loads,
        knee=knees,
        modes=found_modes,
        spans=spans,
        cache=cache,
        sizes=sizes,
        burst=burst,
        flush=flushes,
        flush_growing=growing,
        group_commit=groups,
        mixed=mixed,
        stalls=stalls,
        calibrate_io=oracle.calibrate_io(loads, sizes, knees, asked["num_disks"], asked["max_latency_ms"]),
        settings=settings(inventory, record["engine"], idle, loads, knees, sizes, flushes, groups, quality),
        verdicts=(),
        checks=checked,
        heat_maps=tuple(_heat_maps(entries)),
        engine_ns_per_io=_own_cost(record.get("own_cost") or []),
        file_bytes=record["file_bytes"],
        bytes_read=sum(entry["read_bytes"] for entry in entries),
        bytes_written=record["filled_bytes"] + sum(entry["written_bytes"] for entry in entries),
        warnings=tuple(record["warnings"]),
        database=database,
        ceilings=ceilings.ceilings(asked, inventory, loads, sizes),
        files=per_file.per_file(entries, record.get("files") or [], seed),
        guard=guarding.guarded(record.get("guard")),
    )
    return dataclasses.replace(
        found,
        verdicts=(
            *recognising.verdicts(found, per_file.zero_share(entries)),
            *through_database.verdicts(database),
        ),
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


def quality_of(record: Mapping[str, Any], checked: Sequence[Check]) -> tuple[str, list[str]]:
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
        return "indicative", [*reasons, *_interruption(record)]
    return "sound", []


def _interruption(record: Mapping[str, Any]) -> list[str]:
    if not record["interrupted"]:
        return []
    guard = record.get("guard") or {}
    return [f"stopped for the guarded service: {guard['seen']}" if guard.get("seen") else "interrupted"]


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
