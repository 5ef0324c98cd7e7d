"""What the figures look like to one who has seen many: caches, throttles, lies, averages between two modes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dbdyno.analysis.calibration.findings import Burst, Cache, Flush, Latency, Span, Verdict
from dbdyno.analysis.calibration.modes import Mode

# Light goes 3 m in 10 ns, a DRAM page fault and a copy take 1 us: no device behind a bus answers within it.
FASTER_THAN_A_DEVICE_NS = 3_000
# One revolution at 15,000 a minute: what a write to a rotating disk without a cache waits for, in the mean twice.
REVOLUTION_NS = 4_000_000
# Flash needs more than this to program a page; less is a cache, which must then survive a power cut.
FLASH_PROGRAM_NS = 50_000


def verdicts(
    inventory: dict[str, Any],
    idle: Latency | None,
    modes: Sequence[Mode],
    spans: Sequence[Span],
    cache: Cache | None,
    burst: Burst | None,
    flushes: Sequence[Flush],
    zero_share: float,
) -> tuple[Verdict, ...]:
    """All that was recognised."""
    return tuple(
        [
            *_caches(cache, spans),
            *_faster_than_light(idle),
            *_zeros(zero_share),
            *_modes(modes, idle),
            *_throttle(burst),
            *_flush(inventory.get("queue", {}), flushes),
        ]
    )


def _caches(cache: Cache | None, spans: Sequence[Span]) -> Iterator[Verdict]:
    if cache is None:
        return
    ratio = cache.ratio.estimate
    above = next((span.span_bytes for span in spans if span.span_bytes > cache.bytes_), None)
    upper = f", at most {_size(above)}" if above is not None and above != spans[-1].span_bytes else ""
    yield Verdict(
        "cache",
        f"There is a cache of {_size(cache.bytes_)} or more{upper}: reads all over the file take "
        f"{ratio:.1f} times as long as reads within it.",
    )


def _faster_than_light(idle: Latency | None) -> Iterator[Verdict]:
    if idle is not None and idle.p50_ns.estimate < FASTER_THAN_A_DEVICE_NS:
        yield Verdict(
            "faster_than_light",
            f"A read takes {idle.p50_ns.estimate / 1e3:.1f} us: this is memory, not a device. "
            "What follows is about a cache.",
        )


def _zeros(zero_share: float) -> Iterator[Verdict]:
    if zero_share > 0.01:
        yield Verdict(
            "zeros",
            f"{zero_share:.0%} of the reads brought nothing but zeros: pages that were never written need no device.",
        )


def _modes(modes: Sequence[Mode], idle: Latency | None) -> Iterator[Verdict]:
    if len(modes) < 2:
        return
    slow = modes[-1]
    yield Verdict(
        "modes",
        f"Reads come in {len(modes)} kinds: {slow.share_of_ios:.1%} take some {_time(slow.centre_ns)} and "
        f"{slow.share_of_time:.0%} of all time; the others some {_time(modes[0].centre_ns)}.",
    )
    mean_ns = None if idle is None else idle.mean_ns.estimate
    if mean_ns is not None and not any(mode.low_ns <= mean_ns <= mode.high_ns for mode in modes):
        yield Verdict("average_of_nothing", f"The mean, {_time(mean_ns)}, lies between the modes, where no read is.")


def _throttle(burst: Burst | None) -> Iterator[Verdict]:
    if burst is None or burst.bucket is None:
        return
    bucket = burst.bucket
    yield Verdict(
        "throttle",
        f"Burst {_rate(bucket.burst_bytes_per_s.estimate)} for {bucket.burst_for_ns.estimate / 1e9:.1f} s, "
        f"then {_rate(bucket.sustained_bytes_per_s.estimate)} sustained: a throttle with a bucket of "
        f"{_size(bucket.bucket_bytes.estimate)}.",
    )


def _flush(queue: dict[str, str], flushes: Sequence[Flush]) -> Iterator[Verdict]:
    """Timing cannot prove that a flush reaches the medium; it can be too fast for it."""
    if not flushes:
        return
    p50_ns = flushes[0].p50_ns.estimate
    rotates, caches = queue.get("rotational") == "1", queue.get("write_cache", "").startswith("write back")
    if rotates and p50_ns < REVOLUTION_NS / 2:
        what = "a rotating disk"
    elif caches and p50_ns < FLASH_PROGRAM_NS:
        what = "flash behind a volatile cache"
    else:
        return
    yield Verdict(
        "lying_flush",
        f"A flush takes {_time(p50_ns)}: faster than {what} can make anything durable, which is what the kernel says "
        "that this is. Perhaps nothing reaches the medium; only a power cut tells.",
    )


def _time(ns: float) -> str:
    return f"{ns / 1e3:.0f} us" if ns < 1e6 else f"{ns / 1e6:.1f} ms"


def _rate(bytes_per_s: float) -> str:
    return f"{bytes_per_s / 1e9:.2f} GB/s" if bytes_per_s >= 1e9 else f"{bytes_per_s / 1e6:.0f} MB/s"


def _size(bytes_: float) -> str:
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB")):
        if bytes_ >= unit:
            return f"{bytes_ / unit:.3g} {name}"
    return f"{bytes_ / 1024:.3g} KiB"
