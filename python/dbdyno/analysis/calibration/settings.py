"""Which settings of PostgreSQL follow, each with its evidence; what does not follow is a comment.

Measured is the device; PostgreSQL reads through the page cache, checks and copies pages and shares its CPUs with
queries. So every line names the experiment that asks the server itself, and none is more than a proposal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dbdyno.analysis.calibration.findings import Flush, GroupCommit, Latency, Load, Setting, Size
from dbdyno.analysis.calibration.knee import POWER, Knee

KIB = 1024
PAGE_BYTES = 8 * KIB
HIGH, INDICATIVE, NONE = "high", "indicative", "none"
# No line is surer than the measurement that it rests on.
MOST_CONFIDENCE = {"sound": HIGH, "indicative": INDICATIVE, "no conclusion": NONE}
# Of the most throughput: what a deeper queue or a larger request adds beyond is not worth its latency.
ENOUGH_OF_DEPTH, ENOUGH_OF_SIZE = 0.90, 0.95
# What PostgreSQL 18 takes.
LARGEST_COMBINED_BYTES = 1 << 20
# Of io_max_combine_limit, which cuts io_combine_limit without a word.
DEFAULT_LID_BYTES = 128 * KIB
MOST_IO_WORKERS = 32
AUTOVACUUM_WORKERS = 3
# Of PostgreSQL 18.
DEFAULTS = {
    "effective_io_concurrency": "16",
    "maintenance_io_concurrency": "16",
    "io_combine_limit": "128kB",
    "io_method": "worker",
    "io_workers": "3",
    "random_page_cost": "4",
    "wal_sync_method": "fdatasync",
    "commit_delay": "0",
}
# For the planner's cost a page from memory; the share is a guess until a server's own counters say it.
CACHED_PAGE_NS, CACHED_SHARE = 1_000.0, 0.9


def settings(
    inventory: dict[str, Any],
    engine: str,
    idle: Latency | None,
    loads: Sequence[Load],
    knees: Sequence[Knee],
    sizes: Sequence[Size],
    flushes: Sequence[Flush],
    groups: Sequence[GroupCommit],
    quality: str,
) -> tuple[Setting, ...]:
    """All lines, in the order of postgresql.conf."""
    best = MOST_CONFIDENCE[quality]
    found = [
        *_concurrency(loads, best),
        *_combine(sizes, best),
        *_method(engine, inventory, knees, best),
        *_page_cost(idle, sizes),
        *_sync_method(flushes, best),
        *_commit_delay(flushes, groups),
    ]
    return tuple(found)


def _setting(name: str, value: str, confidence: str, measured: str, rule: str) -> Setting:
    default = DEFAULTS[name]
    confirm = None if value == default else f"confirm/{name}.toml"
    return Setting(name, value, confidence, measured, rule, default, confirm)


def _indicative(best: str) -> str:
    """The same, but not high."""
    return INDICATIVE if best == HIGH else best


def _concurrency(loads: Sequence[Load], best: str) -> Iterator[Setting]:
    if not loads:
        return
    most = max(loads, key=lambda load: load.iops.estimate)
    enough = next(load for load in loads if load.iops.estimate >= ENOUGH_OF_DEPTH * most.iops.estimate)
    measured = (
        f"{enough.depth} reads in flight give {enough.iops.estimate:,.0f}/s of at most {most.iops.estimate:,.0f}/s"
    )
    rule = f"smallest depth with {ENOUGH_OF_DEPTH:.0%} of the most, for one scan at a time"
    known = best if enough.iops.low is not None else NONE
    yield _setting("effective_io_concurrency", str(enough.depth), known, measured, rule)
    shared = max(1, enough.depth // AUTOVACUUM_WORKERS)
    rule = f"the same, shared by {AUTOVACUUM_WORKERS} autovacuum workers"
    yield _setting("maintenance_io_concurrency", str(shared), known, measured, rule)


def _combine(sizes: Sequence[Size], best: str) -> Iterator[Setting]:
    in_order = [size for size in sizes if size.sequential and PAGE_BYTES <= size.io_bytes <= LARGEST_COMBINED_BYTES]
    if len({size.io_bytes for size in in_order}) < 2:
        return
    depth = max(size.depth for size in in_order)
    deepest = sorted((size for size in in_order if size.depth == depth), key=lambda size: size.io_bytes)
    most = max(size.bytes_per_s.estimate for size in deepest)
    enough = next(size for size in deepest if size.bytes_per_s.estimate >= ENOUGH_OF_SIZE * most)
    # Sizes between those that were measured are not known.
    known = best if len(deepest) > 4 else _indicative(best)
    given = f"{enough.bytes_per_s.estimate / 1e6:,.0f} of at most {most / 1e6:,.0f} MB/s"
    measured = f"{enough.io_bytes // KIB} KiB a request give {given}"
    rule = f"smallest size with {ENOUGH_OF_SIZE:.0%} of the most, {depth} in flight, in order"
    if enough.io_bytes > DEFAULT_LID_BYTES:
        rule += "; io_max_combine_limit must be as large, or it is cut to that"
    value = f"{enough.io_bytes // KIB}kB"
    yield _setting("io_combine_limit", value, known, measured, rule)


def _method(engine: str, inventory: dict[str, Any], knees: Sequence[Knee], best: str) -> Iterator[Setting]:
    power = next((knee for knee in knees if knee.formula == POWER), None)
    rule = "io_uring where the kernel lets a process have it; a server whose build lacks it does not start with it"
    if engine == "io_uring":
        yield _setting("io_method", "io_uring", NONE, "this kernel lets us use io_uring", rule)
    elif engine == "threads":
        yield _setting("io_method", "worker", best, "this kernel does not let us use io_uring", rule)
    if power is not None:
        workers = max(1, min(power.depth, MOST_IO_WORKERS, 2 * int(inventory.get("cpus") or 1)))
        measured = f"the knee is at {power.depth} in flight [{power.depth_low}, {power.depth_high}]"
        rule = "with io_method = worker: as many as the knee, at most twice the CPUs; each reads one request at a time"
        yield _setting("io_workers", str(workers), _indicative(best), measured, rule)


def _page_cost(idle: Latency | None, sizes: Sequence[Size]) -> Iterator[Setting]:
    """A page at random against a page in order, one request at a time, as the planner's cost model has it."""
    in_order = [size for size in sizes if size.sequential and size.io_bytes >= 128 * KIB]
    if idle is None or not in_order:
        return
    alone = min(in_order, key=lambda size: (size.depth, size.io_bytes))
    page_ns = PAGE_BYTES / alone.bytes_per_s.estimate * 1e9
    raw = idle.mean_ns.estimate / page_ns
    cached = CACHED_SHARE * CACHED_PAGE_NS
    random_ns = cached + (1 - CACHED_SHARE) * idle.mean_ns.estimate
    adjusted = max(1.0, random_ns / (cached + (1 - CACHED_SHARE) * page_ns))
    measured = (
        f"{raw:.1f} from the device: {idle.mean_ns.estimate / 1e3:.0f} us a page at random, "
        f"{page_ns / 1e3:.1f} us in order; "
        f"{adjusted:.1f} with {CACHED_SHARE:.0%} of the pages in memory"
    )
    rule = "only if plans get better: the planner leaves out prefetching and most of caching"
    yield _setting("random_page_cost", f"{adjusted:.1f}", NONE, measured, rule)


def _sync_method(flushes: Sequence[Flush], best: str) -> Iterator[Setting]:
    if len(flushes) < 2:
        return
    better = [flush for flush in flushes if flush.verdict == "better"]
    winner = min(better, key=lambda flush: flush.ratio.estimate if flush.ratio else 1.0, default=None)
    rule = "another than the default only if it is faster by more than 5 %, and in the server as well"
    if winner is None or winner.ratio is None:
        decided = all(flush.verdict in ("same", "worse", "small") for flush in flushes[1:])
        measured = (
            "no method is faster than fdatasync by more than 5 %" if decided else "not decided: more blocks are needed"
        )
        known = best if decided else NONE
        yield _setting("wal_sync_method", flushes[0].method, known, measured, rule)
        return
    ratio = winner.ratio
    measured = f"{ratio.estimate:.3f} [{ratio.low:.3f}, {ratio.high:.3f}] times the time of fdatasync"
    yield _setting("wal_sync_method", winner.method, best, measured, rule)


def _commit_delay(flushes: Sequence[Flush], groups: Sequence[GroupCommit]) -> Iterator[Setting]:
    if not flushes or len(groups) < 2:
        return
    delay_us = max(1, round(flushes[0].p50_ns.estimate / 2e3))
    alone, many = groups[0].commits_per_s.estimate, groups[-1].commits_per_s.estimate
    measured = (
        f"a flush takes {flushes[0].p50_ns.estimate / 1e3:.0f} us; {groups[-1].writers} writers commit "
        f"{many / alone:.1f} times as often as one without a delay"
    )
    rule = "half a flush, where many commit at a time; only if the server commits more often with it"
    yield _setting("commit_delay", str(delay_us), NONE, measured, rule)
