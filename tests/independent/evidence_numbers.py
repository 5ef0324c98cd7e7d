"""What server, host and driver say beside the times of an arm's trials, as docs/findings.md describes it."""

from __future__ import annotations

import statistics
from collections import Counter

import numpy as np
from journal_reader import Document
from rank_statistics import pseudo_median


def driver(outcomes: list[Document]) -> Document:
    """What the instrument cost, and how punctual it was."""
    drivers, profiles = [o["driver"] for o in outcomes], [o["profile"] for o in outcomes]
    cpu_ns = sum(driver["cpu_ns"] for driver in drivers)
    lateness = {kind: [driver["lateness_ns"][kind] for driver in drivers] for kind in ("p50", "p99", "max")}
    sampler_ns = sum(profile["sampler_elapsed_ns"] for profile in profiles)
    return {
        "cpu_ns_per_unit": cpu_ns / sum(outcome["units"]["successful"] for outcome in outcomes),
        "cpu_share": cpu_ns / sum(outcome["elapsed_ns"] for outcome in outcomes),
        "lateness_ns_p50": statistics.median(lateness["p50"]),
        "lateness_ns_p99": statistics.median(lateness["p99"]),
        "lateness_ns_max": max(lateness["max"]),
        "busiest_thread_share": statistics.median(driver["busiest_thread_share"] for driver in drivers),
        "sampler_cpu_share": sum(profile["sampler_cpu_ns"] for profile in profiles) / max(sampler_ns, 1),
    }


def background(outcomes: list[Document]) -> list[Document]:
    """Server processes that serve no client, the busiest kind first."""
    kinds: dict[str, list[Document]] = {}
    for process in (process for outcome in outcomes for process in outcome["background"]):
        kinds.setdefault(process["backend_type"], []).append(process)
    found = []
    for kind, processes in kinds.items():
        cpu = sum(process["cpu_ns"] or 0 for process in processes)
        queue = sum(process["run_queue_ns"] or 0 for process in processes)
        waits = sum((Counter(process["waits_ns"]) for process in processes), Counter())
        whole = cpu + queue + sum(waits.values()) + sum(process["asleep_no_wait_event_ns"] for process in processes)
        of_one = whole * len(outcomes) / len(processes)
        shares = {event: ns / whole for event, ns in waits.items()}
        found.append((kind, cpu / of_one if whole else 0.0, queue / of_one if whole else 0.0, shares))
    return [
        {"cpu_share": cpu, "run_queue_share": queue, "wait_shares": shares}
        for _, cpu, queue, shares in sorted(found, key=lambda one: (-one[1], one[0]))
    ]


def _samples(trial: Document) -> list[list[int]]:
    return (trial["outcome"].get("exposure") or {}).get("samples") or []


def exposure(trials: list[Document]) -> Document | None:
    """WAL inserted and not yet flushed, over all samples."""
    writes = ("rows_inserted", "rows_updated", "rows_deleted")
    wrote = [[trial["server"].get(kind, 1) for kind in writes] for trial in trials]
    sampled = [_samples(trial) for trial in trials if _samples(trial)]
    if not sampled or not any(map(any, wrote)):
        return None
    exposed = [float(max(insert - flush, 0)) for samples in sampled for _, insert, flush in samples]
    ages = [_age(samples, at) for samples in sampled for at in range(len(samples))]
    per_unit = wal_bytes_per_unit(trials)
    return {
        "samples": len(exposed),
        "bytes": _spread(exposed),
        "commits": _spread([one / per_unit for one in exposed]) if per_unit else None,
        "age_ns": _spread(ages),
    }


def _age(samples: list[list[int]], at: int) -> float:
    """How long ago insertion passed the flush position of now, the insert position growing evenly between samples."""
    now, insert, flush = samples[at]
    if flush >= insert:
        return 0.0
    (first_ns, first, _), (last_ns, last, _) = samples[0], samples[-1]
    if flush < first:
        rate = (last_ns - first_ns) / (last - first) if last > first else 0.0
        return now - (first_ns - (first - flush) * rate)
    below = max(place for place, (_, position, _) in enumerate(samples) if position <= flush)
    (ns, low, _), (next_ns, high, _) = samples[below], samples[below + 1]
    return now - (ns + (flush - low) / (high - low) * (next_ns - ns))


def _spread(values: list[float]) -> Document:
    return {"mean": statistics.fmean(values), "p95": float(np.percentile(values, 95)), "max": max(values)}


def wal_bytes_per_unit(trials: list[Document]) -> float | None:
    """Growth of the insert position over the units of the same time."""
    grown = units = 0.0
    for trial in trials:
        if samples := _samples(trial):
            grown += samples[-1][1] - samples[0][1]
            units += trial["outcome"]["throughput_per_s"] * (samples[-1][0] - samples[0][0]) / 1e9
    return grown / units if units else None


def images_per_commit(trials: list[Document]) -> float | None:
    """Full-page images, by the server's counters."""
    servers = [t["server"] for t in trials if "wal_full_page_images" in t["server"] and t["server"].get("commits")]
    commits = sum(server["commits"] for server in servers)
    return sum(server["wal_full_page_images"] for server in servers) / commits if commits else None


def units_in_all(outcomes: list[Document]) -> int | None:
    """Units with those of warm-up and cool-down; None where a trial does not know."""
    counts = [outcome.get("units_with_warm_up") for outcome in outcomes]
    return None if None in counts else sum(counts)


def counters(trials: list[Document], units: int | None) -> dict[str, float]:
    """The server's own counters that all trials have, per unit."""
    common = set.intersection(*(set(trial["server"]) for trial in trials))
    return {name: sum(t["server"][name] for t in trials) / units for name in common} if units else {}


def share(trials: list[Document], part: str, whole: str) -> float | None:
    """One counter of another."""
    total = sum(trial["server"].get(whole, 0) for trial in trials)
    return sum(trial["server"].get(part, 0) for trial in trials) / total if total else None


def outcomes(trials: list[Document]) -> list[Document]:
    """Figures of the database, before and after."""
    found: dict[str, list[Document]] = {}
    for trial in trials:
        for name, one in (trial.get("outcomes") or {}).items():
            found.setdefault(name, []).append(one)
    return [
        {
            "before": pseudo_median([float(one["before"]) for one in of]),
            "after": pseudo_median([float(one["after"]) for one in of]),
            "difference": pseudo_median([float(one["after"] - one["before"]) for one in of]),
        }
        for of in found.values()
    ]


def _requests(count: int, size: int, units: int) -> Document:
    return {"per_unit": count / units, "bytes_mean": size / count if count else None}


def reads(trials: list[Document], page: int, units: int | None) -> Document | None:
    """Read requests, and the share of pages that came from the device."""
    servers = [trial["server"] for trial in trials]
    if not units or not all({"buffer_hits", "buffer_reads"} <= server.keys() for server in servers):
        return None
    accessed = sum(server["buffer_hits"] + server["buffer_reads"] for server in servers) * page
    files = [trial["file"] for trial in trials if trial.get("file")]
    works = [trial["work"] for trial in trials if (trial.get("work") or {}).get("file_bytes")]
    if not accessed and not files and not works:
        return None
    by_server = [server["buffer_reads"] * page for server in servers]
    known = all(trial.get("device") for trial in trials)
    by_device = [trial["device"]["read_bytes"] for trial in trials] if known else by_server
    count = sum(server.get("read_operations", server["buffer_reads"]) for server in servers)
    size = sum(server.get("read_bytes", own) for server, own in zip(servers, by_server, strict=True))
    physical = sum(map(min, by_server, by_device))
    if files:
        accessed = sum(file["bytes"] for file in files)
        physical = sum(min(file["bytes"], file["read_bytes"]) for file in files)
    if works:
        accessed = sum(work["file_bytes"] for work in works)
        physical = sum(min(work["file_bytes"], work["read_bytes"]) for work in works)
    return {"server": _requests(count, size, units), "physical_share": physical / accessed}


def device(trials: list[Document], units: int | None) -> Document | None:
    """Requests that reached the device."""
    found = [trial.get("device") for trial in trials]
    if not units or not all(found):
        return None
    sums = {key: sum(one[key] for one in found if one) for key in ("reads", "read_bytes", "writes", "write_bytes")}
    flushes = [one["flushes"] for one in found if one]
    return {
        "reads": _requests(sums["reads"], sums["read_bytes"], units),
        "writes": _requests(sums["writes"], sums["write_bytes"], units),
        "flushes_per_unit": None if None in flushes else sum(flushes) / units,
    }


def host_cpu(trials: list[Document]) -> Document | None:
    """Shares of CPU time, each trial by its length."""
    known = [trial for trial in trials if trial.get("host")]
    lengths = [trial["outcome"]["elapsed_ns"] for trial in known]
    if not sum(lengths):
        return None
    keys = ("user", "system", "io_wait", "steal")
    return {key: float(np.average([t["host"][f"cpu_{key}_share"] for t in known], weights=lengths)) for key in keys}


def reset(trials: list[Document]) -> list[Document]:
    """Each step before a trial: the median time, and what it reached last."""
    known = [trial["reset"] for trial in trials if trial.get("reset")]
    return [
        {
            "ns": float(statistics.median(steps[place]["ns"] for steps in known if len(steps) > place)),
            "reached": {key: value for key, value in step.items() if key not in ("step", "ns")},
        }
        for place, step in enumerate(known[-1] if known else [])
    ]
