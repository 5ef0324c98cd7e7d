"""The figures of a calibration that are compared, from its raw cells, each with how well its blocks know it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from dbdyno.analysis.calibration import caching, flushing, large, loading
from dbdyno.analysis.calibration.block_bootstrap import BlockBootstrap, lag_one
from dbdyno.analysis.calibration.entries import Blocks, by_level, correlation_of, grouped, quantiles
from dbdyno.analysis.calibration.findings import Burst
from dbdyno.analysis.calibration.knee import power_places
from dbdyno.analysis.calibrations_compared.contrasts import Known, known, known_stretched
from dbdyno.analysis.calibrations_compared.findings import CACHE, COMMITS, LARGE, LOADS, MAIN, FigureName
from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Estimate

NS_PER_S = 1e9
# What a scan or a read-ahead asks for; what is smaller is a question of IOPS.
LARGE_BYTES = 128 << 10
# Of the burst, whose steps are too short to be units: half a second.
STEPS_A_BLOCK = 5
# What an interval's half width is in standard errors.
NORMAL_95 = 1.959963984540054


@dataclasses.dataclass(frozen=True, slots=True)
class Figure:
    """One figure of one calibration."""

    name: FigureName
    family: str
    higher_is_better: bool
    known: Known


def figures(record: Document) -> dict[tuple[object, ...], Figure]:
    """All figures by their keys, family after family; one that cannot be made is not among them."""
    entries, seed = record["entries"], record["seed"]
    every = (
        *_idle(entries, seed),
        *_knee(entries, seed),
        *_burst(entries, seed),
        *_flushes(entries, seed),
        *_loads(entries, seed),
        *_large(entries, seed),
        *_group_commits(entries, seed),
        *_cache(entries, seed),
    )
    return {one.name.key: one for one in every}


def _figure(name: FigureName, family: str, seen: Known | None, *, higher: bool) -> Iterator[Figure]:
    if seen is not None:
        yield Figure(name, family, higher, seen)


def _idle(entries: Sequence[Document], seed: int) -> Iterator[Figure]:
    for blocks in by_level(entries, "idle", "depth").values():
        bootstrap = BlockBootstrap.of(len(blocks.entries), correlation_of([blocks]), seed)
        yield from _times("idle", {}, blocks, bootstrap, main="p50_ns")


def _loads(entries: Sequence[Document], seed: int) -> Iterator[Figure]:
    found = by_level(entries, "sweep", "depth")
    correlation = correlation_of(found.values())
    for depth, blocks in found.items():
        bootstrap = BlockBootstrap.of(len(blocks.entries), correlation, seed)
        iops = bootstrap.totals(blocks.ios) / bootstrap.totals(blocks.window_ns) * NS_PER_S
        name = FigureName("sweep", "iops", {"depth": depth})
        yield from _figure(name, LOADS, known(bootstrap, iops), higher=True)
        yield from _times("sweep", {"depth": depth}, blocks, bootstrap)


def _times(
    phase: str, level: dict[str, int | str | bool], blocks: Blocks, bootstrap: BlockBootstrap, main: str = ""
) -> Iterator[Figure]:
    if not blocks.ios.any():
        return
    counts = bootstrap.totals(blocks.counts)
    for quantity, share in (("p50_ns", 0.5), ("p99_ns", 0.99)):
        seen = known(bootstrap, quantiles(counts, share))
        family = MAIN if quantity == main else LOADS
        yield from _figure(FigureName(phase, quantity, level), family, seen, higher=False)


def _knee(entries: Sequence[Document], seed: int) -> Iterator[Figure]:
    """The throughput at each replicate's own knee: it is not known better than where the knee is."""
    curve = loading.curve_of(entries, seed)
    if curve is None:
        return
    found = by_level(entries, "sweep", "depth")
    fewest = min(len(blocks.entries) for blocks in found.values())
    free = BlockBootstrap.of(fewest, correlation_of(found.values()), seed).free
    at_knee = curve.iops[np.arange(len(curve.iops)), power_places(curve)]
    yield from _figure(FigureName("knee", "iops", {}), MAIN, known_stretched(at_knee, free), higher=True)


def _large(entries: Sequence[Document], seed: int) -> Iterator[Figure]:
    found = grouped(entries, "sizes", lambda level: (level["io_bytes"], level["depth"], level["sequential"]))
    correlation = lag_one([np.log(np.maximum(blocks.bytes_, 1) / blocks.window_ns) for blocks in found.values()])
    for (io_bytes, depth, sequential), blocks in found.items():
        if io_bytes >= LARGE_BYTES:
            bootstrap = BlockBootstrap.of(len(blocks.entries), correlation, seed)
            rate = bootstrap.totals(blocks.bytes_) / bootstrap.totals(blocks.window_ns) * NS_PER_S
            level = {"io_bytes": io_bytes, "depth": depth, "sequential": sequential}
            yield from _figure(FigureName("sizes", "bytes_per_s", level), LARGE, known(bootstrap, rate), higher=True)


def _burst(entries: Sequence[Document], seed: int) -> Iterator[Figure]:
    """Throttled: both rates of the token bucket. Else the rate of the whole, and that of its second half."""
    found = large.burst(entries, seed)
    if found is None:
        return
    if found.bucket is not None:
        rates = (_from_interval(found.bucket.burst_bytes_per_s), _from_interval(found.bucket.sustained_bytes_per_s))
    else:
        rates = (_rate(found, 0, seed), _rate(found, len(found.bytes_per_step) // 2, seed))
    for quantity, family, seen in zip(
        ("burst_bytes_per_s", "sustained_bytes_per_s"), (LARGE, MAIN), rates, strict=True
    ):
        yield from _figure(FigureName("burst", quantity, {}), family, seen, higher=True)


def _rate(found: Burst, first_step: int, seed: int) -> Known | None:
    steps = np.asarray(found.bytes_per_step[first_step:], dtype=np.float64)
    blocks = steps[: len(steps) // STEPS_A_BLOCK * STEPS_A_BLOCK].reshape(-1, STEPS_A_BLOCK).mean(axis=1)
    if not len(blocks) or not blocks.all():
        return None
    bootstrap = BlockBootstrap.of(len(blocks), lag_one([np.log(blocks)]), seed)
    return known(bootstrap, bootstrap.totals(blocks) / len(blocks) * (NS_PER_S / found.step_ns))


def _from_interval(estimate: Estimate) -> Known | None:
    """As well known as an interval of the normal distribution would say."""
    if estimate.estimate <= 0:
        return None
    log = float(np.log(estimate.estimate))
    if not estimate.low or not estimate.high:
        return Known(log, None, np.inf)
    return Known(log, float(np.log(estimate.high / estimate.low)) / 2 / NORMAL_95, np.inf)


def _flushes(entries: Sequence[Document], seed: int) -> Iterator[Figure]:
    """The median of all commits, as well known as the geometric mean of the blocks' medians."""
    found = by_level(entries, "flush", "method")
    medians = {method: np.log(list(flushing.block_medians(blocks).values())) for method, blocks in found.items()}
    correlation = lag_one(list(medians.values()))
    for method, logs in medians.items():
        bootstrap = BlockBootstrap.of(len(logs), correlation, seed)
        centre = np.median(np.concatenate([outcome["times_ns"] for outcome in found[method].outcomes]))
        means = np.exp(bootstrap.totals(logs) / len(logs))
        seen = known(bootstrap, centre * means / means[0])
        family = MAIN if method == flushing.BASELINE else COMMITS
        yield from _figure(FigureName("flush", "p50_ns", {"method": method}), family, seen, higher=False)


def _group_commits(entries: Sequence[Document], seed: int) -> Iterator[Figure]:
    found = by_level(entries, "group_commit", "writers")
    correlation = lag_one([np.log(flushing.block_rates(blocks)) for blocks in found.values()])
    for writers, blocks in found.items():
        bootstrap = BlockBootstrap.of(len(blocks.entries), correlation, seed)
        commits = bootstrap.totals([len(outcome["times_ns"]) for outcome in blocks.outcomes])
        rate = commits / bootstrap.totals([outcome["elapsed_ns"] for outcome in blocks.outcomes]) * NS_PER_S
        name = FigureName("group_commit", "commits_per_s", {"writers": writers})
        yield from _figure(name, COMMITS, known(bootstrap, rate), higher=True)


def _cache(entries: Sequence[Document], seed: int) -> Iterator[Figure]:
    """How many times as long reads all over the file take as those within a span, which a cache that is gone ends."""
    found = by_level(entries, "cache_map", "span_bytes")
    gains = {span: caching.gain_logs(found[max(found)], found[span]) for span in list(found)[:-1]}
    correlation = lag_one(list(gains.values()))
    for span, logs in gains.items():
        if logs:
            bootstrap = BlockBootstrap.of(len(logs), correlation, seed)
            seen = known(bootstrap, np.exp(bootstrap.totals(logs) / len(logs)))
            yield from _figure(FigureName("cache_map", "gain", {"span_bytes": span}), CACHE, seen, higher=True)


def at_edges(every: Iterable[Figure], edges: set[int]) -> Iterator[Figure]:
    """Of the gains by span only those of the spans at which a cache was seen to end; all else as it is."""
    for one in every:
        if one.name.phase != "cache_map" or one.name.level["span_bytes"] in edges:
            yield one
