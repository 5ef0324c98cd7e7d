"""Calibrations built by hand for the reports: a throttled virtual disk with two modes, a plain disk, and nothing.

No report checks whether an interval follows from blocks, so figures only have to look like a calibration's. Nothing is
drawn at random: the cells of the heat maps are what a mixture of lognormal modes puts into each bin.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from dbdyno.analysis.calibration.database.findings import Beside, Commits, Database, LeftOut, Reads, Scan
from dbdyno.analysis.calibration.findings import (
    Burst,
    Cache,
    CalibrateIo,
    Calibration,
    Ceiling,
    Check,
    FileFigures,
    Flush,
    GroupCommit,
    Guarded,
    HeatMap,
    Knee,
    Latency,
    Load,
    Mixed,
    Mode,
    Rested,
    Setting,
    Size,
    Span,
    Third,
    TokenBucket,
    Verdict,
)
from dbdyno.analysis.findings import Estimate

US, MS, S = 1_000, 1_000_000, 1_000_000_000
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30

# Depth: IOPS, mean, p50, p99 and p99.9 in us, CPU in us for each I/O.
SWEEP = {
    1: (16_200, 62, 55, 220, 2_400, 16.8),
    2: (23_500, 85, 74, 380, 2_600, 11.7),
    4: (35_100, 114, 92, 430, 2_900, 7.7),
    8: (44_200, 181, 150, 1_900, 3_400, 6.4),
    16: (58_600, 273, 236, 2_300, 4_100, 4.9),
    32: (62_300, 513, 470, 2_700, 4_700, 4.5),
    64: (65_900, 971, 900, 4_000, 5_800, 4.2),
    128: (78_100, 1_638, 1_560, 4_600, 7_300, 3.3),
}
POWER, MOST = "max X/R", "max X"
P99_DOUBLED = "largest depth with p99 <= 2 x p99 at the smallest depth"


def virtual_disk() -> Calibration:
    """Two modes, a cache of 64 MiB in the host, a throttle, and a flush method that is worse than the others."""
    return Calibration(
        budget="standard",
        measured_at="2026-11-22T14:03:07+00:00",
        engine="io_uring",
        inventory={
            "host": "db7",
            "cpus": 2,
            "cpu_model": "AMD EPYC",
            "kernel": "6.18.5",
            "directory": "/srv/data",
            "file_system": "ext4",
            "mount_options": "rw,relatime",
            "device": "/dev/vda1",
            "direct": True,
            "memory_bytes": 8 * GIB,
            "queue": {"rotational": "1", "write_cache": "write back", "scheduler": "[none] mq-deadline"},
            "link": {},
            "limits": {},
            "io_uring_disabled": None,
        },
        quality="indicative",
        reasons=(
            "other programs moved 4 % of the device's bytes meanwhile",
            "the p99 at depth 8 is known to 24 % only",
        ),
        idle=_latency(120_000, 62, 55, 110, 220, 2_400),
        rested=Rested(40 * MS, _latency(400, 118, 110, 160, 290, None), Estimate(2.0, 1.8, 2.3)),
        loads=tuple(_load(depth, *figures) for depth, figures in SWEEP.items()),
        knee=(
            Knee(POWER, 4, 2, 4, Estimate(35_100, 24_100, 36_400)),
            Knee(P99_DOUBLED, 4, 2, 8, Estimate(35_100, 23_900, 43_800)),
            Knee(MOST, 128, 128, 128, Estimate(78_100, 76_300, 79_400)),
        ),
        modes=(
            Mode(57_000, 31_000, 850_000, 0.991, 0.74, "scattered"),
            Mode(2_050_000, 850_000, 8_300_000, 0.009, 0.26, "clustered"),
        ),
        spans=tuple(_span(span, us) for span, us in zip(SPANS, (31, 31.4, 32, 33, 55, 56), strict=True)),
        cache=Cache(64 * MIB, 32_400, Estimate(1.72, 1.61, 1.83), 0.0003),
        sizes=SIZES,
        burst=_burst(),
        flush=(
            _flush("fdatasync", 120, 193, None, None),
            _flush("fsync", 120.4, 194, Estimate(1.003, 0.995, 1.010), "same"),
            _flush("open_datasync", 118.4, 195, Estimate(0.987, 0.978, 0.996), "small"),
            _flush("open_sync", 171, 402, Estimate(1.43, 1.38, 1.47), "worse"),
        ),
        flush_growing=_flush("fdatasync", 204, 390, Estimate(1.7, 1.62, 1.79), "worse"),
        mixed=(
            _mixed(0.5, 0.0, 17_500, 0, 250, None),
            _mixed(0.5, 0.1, 17_500, 3_500, 410, Estimate(1.64, 1.32, 1.99)),
            _mixed(0.5, 0.4, 17_400, 14_000, 2_900, Estimate(11.6, 8.1, 14.2)),
            _mixed(0.8, 0.0, 28_000, 0, 430, None),
            _mixed(0.8, 0.1, 28_000, 3_500, 990, Estimate(2.3, 1.9, 2.8)),
            _mixed(0.8, 0.4, 21_000, 11_000, 48_000, Estimate(112, 80, 130)),
        ),
        stalls=(),
        group_commit=(
            GroupCommit(1, Estimate(7_900, 7_700, 8_100), 120_000, 1.0),
            GroupCommit(2, Estimate(8_100, 7_800, 8_400), 233_000, 1.1),
            GroupCommit(4, Estimate(15_100, 14_600, 15_700), 251_000, 1.9),
            GroupCommit(8, Estimate(27_300, 26_100, 28_600), 274_000, 3.6),
        ),
        calibrate_io=CalibrateIo(
            max_iops=78_100,
            latency_ms=1.638,
            max_mbps=1_290,
            max_pmbps=1_110,
            depth=128,
            concurrency=127.9,
            num_disks=1,
            max_latency_ms=20,
            large_depth=8,
            notes=(
                "max_iops is reached with 128 reads in flight at a time",
                "the knee is at 4 in flight, where 45% of max_iops are served",
                "latency is a mean: 1 read in 100 takes 2.8 times as long and more",
                "max_mbps is of random reads; in order they reach 1.00 times as much",
                "nothing here says what a commit costs",
            ),
        ),
        settings=SETTINGS,
        verdicts=(
            Verdict("knee", "The knee is at 4 reads in flight: 35,100 IOPS at 114 us, 430 us at p99 (max X/R)."),
            Verdict("two_modes", "Reads have two modes, 57 us and 2.05 ms: 0.9 % of the reads take 26 % of the time."),
            Verdict("cache", "There is a cache of 64 MiB or more: reads all over the file take 1.7 times as long."),
            Verdict("throttled", "The device is throttled: 2,730 MB/s for 4.1 s, then 1,290 MB/s for good."),
            Verdict("flush", "No flush method is better than fdatasync (120 us); open_sync is 1.43x slower."),
        ),
        checks=(
            Check("little", True, "depth = throughput x response time within 0.4 %"),
            Check("diskstats", False, "the kernel counted 0.91 of our reads: a cache answered the rest"),
            Check("zeros", True, "blocks of zeros are not read faster"),
        ),
        heat_maps=(_over_load(), _over_time()),
        engine_ns_per_io=280.0,
        file_bytes=4 * GIB,
        bytes_read=61 * GIB,
        bytes_written=5 * GIB,
        warnings=({"code": "shared", "message": "the directory is on the disk of the operating system"},),
    )  # fmt: skip


def plain_disk() -> Calibration:
    """A quick look at a sound disk: one mode, no cache, no throttle, too few I/Os for p99.9, no writes allowed."""
    whole = virtual_disk()
    return dataclasses.replace(
        whole,
        budget="quick",
        engine="threads",
        quality="sound",
        reasons=(),
        idle=_latency(9_000, 62, 55, 110, 220, None),
        loads=tuple(_without_p999(load) for load in whole.loads[:3]),
        knee=(Knee(POWER, 4, 2, 4, Estimate(35_100, None, None)),),
        modes=(Mode(57_000, 31_000, 850_000, 1.0, 1.0, None),),
        spans=tuple(_span(span, us) for span, us in zip(SPANS, (54.6, 55, 55.1, 54.8, 55, 55.3), strict=True)),
        cache=None,
        calibrate_io=None,
        burst=Burst(100 * MS, tuple(128_000_000 for _ in range(80)), None, "steady"),
        rested=None,
        flush=(),
        flush_growing=None,
        group_commit=(),
        mixed=(),
        verdicts=(Verdict("plain", "Nothing stands out: one mode, no cache, no throttle."),),
        settings=SETTINGS[:1],
        checks=(Check("little", True, "depth = throughput x response time within 0.4 %"),),
        warnings=(),
    )  # fmt: skip


def _mixed(
    read_share: float, write_share: float, reads: float, writes: float, p99_us: float, ratio: Estimate | None
) -> Mixed:
    return Mixed(
        read_share=read_share,
        write_share=write_share,
        asked_per_s=35_000 * (read_share + write_share),
        reads_per_s=Estimate(reads, reads * 0.98, reads * 1.02),
        writes_per_s=Estimate(writes, writes * 0.98, writes * 1.02),
        p50_ns=Estimate(p99_us * 400, p99_us * 380, p99_us * 420),
        p99_ns=Estimate(p99_us * 1e3, p99_us * 800, p99_us * 1_250),
        ratio=ratio,
        flushes=0 if not write_share else 24,
    )


def read_only() -> Calibration:
    """Two files that were there, beside a guarded service, with what was expected of them."""
    whole = plain_disk()
    thirds = tuple(
        Third(32 * MIB * place, 32 * MIB, 55e3 * times, _around(times, 0.1), 0.002, times > 1.2)
        for place, times in enumerate((0.84, 0.85, 1.41))
    )
    flat = tuple(
        Third(32 * MIB * place, 32 * MIB, 55e3, Estimate(1.0, 0.93, 1.08), 1.0, slow=False) for place in range(3)
    )
    ios = _latency(9_000, 62, 55, 110, 220, None)
    return dataclasses.replace(
        whole,
        files=(
            FileFigures(
                "5/16402", GIB, "vda1", "ext4", ios, 16, _around(58_600, 0.05), 0.0, thirds, _around(0.52, 0.06)
            ),
            FileFigures(
                "5/16500", 96 * MIB, "vda1", "ext4", ios, 16, _around(58_100, 0.05), 0.043, flat, _around(0.49, 0.06)
            ),
        ),
        ceilings=(
            Ceiling("expected_iops", "--expect-iops", 100_000, _around(62_300, 0.03), "depth 32", above=False),
            Ceiling("expected_bytes_per_s", "--expect-mbps", 1e9, _around(1_290e6, 0.02), "1024 KiB", above=True),
            Ceiling("link_bytes_per_s", "PCIe 8 GT/s x4", 3.938e9, _around(1_290e6, 0.02), "1024 KiB", above=False),
        ),
        guard=Guarded(
            "postgres://app@db7:5432/shop", "SELECT 1", 3.0, (10 * MS, 50 * MS), 210e3, 340e3, 611, 230e3, 390e3,
            14.2e6,
            "16 of its last 30 answers took more than 10 ms (usual: 3 of 4 within 0.24 ms)",
        ),
        bytes_written=0,
    )  # fmt: skip


def _without_p999(load: Load) -> Load:
    return dataclasses.replace(load, latency=dataclasses.replace(load.latency, p999_ns=None))


def nothing() -> Calibration:
    """A calibration that was stopped before its first cell ended."""
    return dataclasses.replace(
        plain_disk(), quality="no conclusion", reasons=("no phase was completed",), idle=None, loads=(), knee=(),
        modes=(), spans=(), sizes=(), burst=None, calibrate_io=None, settings=(), verdicts=(), checks=(), heat_maps=(),
        engine_ns_per_io=None, bytes_read=0, bytes_written=0,
    )  # fmt: skip


# Sessions: pages a second, p50 and p99 of a lookup in us, share from the page cache, ratio to the device, us added.
THROUGH = {
    "buffered": ((1, 8_100, 119, 410, 0.004, 0.50, 61), (8, 31_900, 228, 2_400, 0.01, 0.72, 69),
                 (64, 44_100, 1_420, 5_900, 0.31, 0.67, 468)),
    "direct": ((1, 7_600, 127, 420, -0.001, 0.47, 69), (8, 28_800, 251, 2_600, 0.0, 0.65, 94),
               (64, 35_900, 1_760, 6_800, 0.0, 0.54, 809)),
}  # fmt: skip


def through_database() -> Calibration:
    """The plain disk with a database beside it, which ended before it had scanned past the page cache."""
    whole = virtual_disk()
    found = Database(
        target="embedded",
        version="18.6",
        settings={"shared_buffers": "16MB", "io_method": "worker", "wal_sync_method": "fdatasync"},
        table_bytes=512 * MIB,
        blocks=6,
        arms=tuple(THROUGH),
        left_out=(LeftOut("direct", "this file system takes no direct I/O"),),
        device=tuple(load for load in whole.loads if load.depth in (1, 8, 64)),
        reads=tuple(_reads(arm, *figures) for arm, every in THROUGH.items() for figures in every),
        scans=(
            Scan("device", _around(1.25e9, 0.03), None, None),
            Scan("buffered", _around(1.1e9, 0.06), Estimate(-0.15, -0.16, -0.14), Beside(_around(0.88, 0.05), None)),
        ),
        commits=(
            Commits(1, _around(6_100, 0.04), _latency(9_000, 164, 150, 210, 420, None), 93.0, _around(7_900, 0.03),
                    120_000.0, Beside(_around(0.77, 0.05), _around(37_000, 0.2))),
            Commits(8, _around(19_200, 0.05), _latency(28_000, 416, 390, 520, 980, None), 94.5, None, None, None),
        ),
        heat_maps=(dataclasses.replace(_over_load(), name="device", over="reads at a time"),
                   dataclasses.replace(_over_load(), name="buffered", over="sessions")),
        reads_counted_by="processes",
        failed="the server closed the connection",
        warnings=({"code": "other_device", "message": "the server's data lies on another device"},),
    )  # fmt: skip
    return dataclasses.replace(plain_disk(), database=found)


def _reads(
    arm: str, sessions: int, per_s: float, p50: float, p99: float, cached: float, ratio: float, added_us: float
) -> Reads:
    return Reads(
        arm, sessions, 6, _around(per_s / 0.97, 0.04), _around(per_s, 0.04), 0.97,
        Estimate(cached, cached - 0.01, cached + 0.01), _latency(5_000, p50 * 1.1, p50, (p50 + p99) / 2, p99, None),
        39_000.0, 4_800.0, Beside(_around(ratio, 0.06), _around(added_us * US, 0.1)),
    )  # fmt: skip


def hostile(text: str) -> Calibration:
    """Names and sentences that would break a careless page."""
    whole = virtual_disk()
    return dataclasses.replace(
        whole,
        engine=text,
        inventory=whole.inventory | {"directory": f"/srv/{text}", "device": text, "queue": {text: text}},
        reasons=(text,),
        verdicts=(Verdict(text, text),),
        checks=(Check(text, False, text),),
        settings=(Setting("commit_delay", text, "none", text, text, text, text),),
        heat_maps=tuple(dataclasses.replace(one, name=text) for one in whole.heat_maps),
        knee=tuple(dataclasses.replace(one, formula=text) for one in whole.knee),
        flush=tuple(dataclasses.replace(one, method=f"{text}{place}") for place, one in enumerate(whole.flush)),
        warnings=({"code": text, "message": text},),
        database=_hostile(text),
        files=tuple(dataclasses.replace(one, path=text) for one in read_only().files),
        ceilings=tuple(dataclasses.replace(one, says=text, at=text) for one in read_only().ceilings),
        guard=Guarded(text, text, 3.0, (MS, MS), 1.0, 1.0, 0, None, None, None, text),
    )  # fmt: skip


def _hostile(text: str) -> Database:
    found = through_database().database
    assert found is not None
    return dataclasses.replace(
        found,
        target=text,
        version=text,
        settings={"shared_buffers": text},
        arms=(text, "direct"),
        left_out=(LeftOut(text, text),),
        reads=tuple(dataclasses.replace(one, arm=text) if one.arm == "buffered" else one for one in found.reads),
        heat_maps=tuple(dataclasses.replace(one, name=text) for one in found.heat_maps),
        failed=text,
        warnings=({"code": text, "message": text},),
    )


SETTINGS = (
    Setting(
        "effective_io_concurrency", "24", "high",
        "90 % of the most throughput from 16 reads in flight on (14 to 32)",
        "the smallest depth with at least 90 % of the most throughput",
        "16",
        "confirm/effective_io_concurrency.toml",
    ),
    Setting(
        "random_page_cost", "1.9", "indicative",
        "a random page takes 1.9 times a sequential one (1.7 to 2.1), from the device, without any cache of the server",
        "t(random 8 KiB, one at a time) / t(sequential), never below seq_page_cost",
        "4",
        "confirm/random_page_cost.toml",
    ),
    Setting(
        "commit_delay", "60", "none",
        "median flush 120 us; 8 writers commit 3.5 times as much as one without it",
        "half of the median flush",
        "0",
        "confirm/commit_delay.toml",
    ),
)  # fmt: skip

SPANS = tuple(MIB * 4**power for power in range(6))

SIZES = tuple(
    Size(io_bytes, depth, sequential, Estimate(rate, rate * 0.96, rate * 1.05), Estimate(ns, ns * 0.95, ns * 1.06))
    for io_bytes, depth, sequential, rate, ns in (
        (8 * KIB, 1, False, 133e6, 62 * US), (8 * KIB, 1, True, 168e6, 48 * US),
        (8 * KIB, 8, False, 362e6, 181 * US), (8 * KIB, 8, True, 480e6, 137 * US),
        (128 * KIB, 1, False, 690e6, 190 * US), (128 * KIB, 1, True, 720e6, 182 * US),
        (128 * KIB, 8, False, 1_240e6, 845 * US), (128 * KIB, 8, True, 1_270e6, 826 * US),
        (MIB, 1, False, 1_090e6, 960 * US), (MIB, 1, True, 1_110e6, 945 * US),
        (MIB, 8, False, 1_285e6, 6.5 * MS), (MIB, 8, True, 1_290e6, 6.5 * MS),
    )
)  # fmt: skip


def _around(value: float, share: float) -> Estimate:
    return Estimate(value, value * (1 - share), value * (1 + share))


def _latency(ios: int, mean: float, p50: float, p90: float, p99: float, p999: float | None) -> Latency:
    """From microseconds; the further out, the wider the interval."""
    return Latency(
        ios, _around(mean * US, 0.03), _around(p50 * US, 0.02), _around(p90 * US, 0.04), _around(p99 * US, 0.12),
        None if p999 is None else _around(p999 * US, 0.3),
    )  # fmt: skip


def _load(depth: int, iops: float, mean: float, p50: float, p99: float, p999: float, cpu: float) -> Load:
    latency = _latency(int(iops * 3), mean, p50, (p50 + p99) / 2, p99, p999)
    return Load(depth, _around(iops, 0.04), latency, cpu * US, 12)


def _span(span_bytes: int, us: float) -> Span:
    return Span(span_bytes, _latency(20_000, us * 1.1, us, us * 1.6, us * 3.8, us * 40))


def _flush(method: str, p50: float, p99: float, ratio: Estimate | None, verdict: str | None) -> Flush:
    p_value = {None: None, "same": 0.41, "small": 0.012, "worse": 0.0001}[verdict]
    return Flush(method, 1_920, _around(p50 * US, 0.01), p99 * US, ratio, p_value, verdict)


def _burst() -> Burst:
    """Ripples upon two levels; the bucket runs dry within the 42nd step."""
    rates = [2_730e6 if step < 41 else 1_300e6 if step > 41 else 1_700e6 for step in range(200)]
    moved = tuple(round(rate / 10 * (1 + 0.07 * math.sin(step * 1.7))) for step, rate in enumerate(rates))
    bucket = TokenBucket(
        Estimate(2_730e6, 2_690e6, 2_780e6), Estimate(4.13e9, 4.02e9, 4.24e9), Estimate(5.9e9, 5.6e9, 6.2e9),
        Estimate(1_300e6, 1_270e6, 1_330e6),
    )  # fmt: skip
    return Burst(100 * MS, moved, bucket, "steady")


def _over_load() -> HeatMap:
    columns = tuple(str(depth) for depth in SWEEP)
    cells = [
        (column, *cell)
        for column, (iops, mean, p50, *_) in enumerate(SWEEP.values())
        for cell in _cells(((p50 * US, 0.25, iops * 2.97), (2_050 * US + mean * US, 0.15, iops * 0.03)))
    ]
    return HeatMap("by load", columns, tuple(cells))


def _over_time() -> HeatMap:
    """Two seconds of steps; the slow mode comes in bursts."""
    steps = range(40)
    cells = [
        (step, *cell)
        for step in steps
        for cell in _cells(((57 * US, 0.22, 800.0), (2_050 * US, 0.15, 60.0 if step % 13 < 3 else 1.0)))
    ]
    return HeatMap(
        "over time, one read at a time", tuple(f"{step * 50} ms" for step in steps), tuple(cells), step_ns=50 * MS
    )


def _cells(modes: Sequence[tuple[float, float, float]]) -> list[tuple[int, int]]:
    """What lognormal modes (median, sigma, I/Os) put into each bin: [bin, ios] without the empty ones."""

    def below(place: int, median: float, sigma: float) -> float:
        return 0.5 * (1 + math.erf((place / 50 * math.log(10) - math.log(median)) / sigma / math.sqrt(2)))

    counts = {
        place: round(sum(ios * (below(place + 1, m, s) - below(place, m, s)) for m, s, ios in modes))
        for place in range(200, 400)
    }
    return [(place, ios) for place, ios in counts.items() if ios]
