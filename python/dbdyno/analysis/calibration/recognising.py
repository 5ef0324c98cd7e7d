"""What the figures look like to one who has seen many: caches, throttles, lies, averages between two modes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dbdyno.analysis.calibration.findings import (
    Burst,
    Cache,
    Calibration,
    Ceiling,
    FileFigures,
    Flush,
    Latency,
    Mixed,
    Rested,
    Span,
    Stall,
    Verdict,
)
from dbdyno.analysis.calibration.modes import Mode

# Light goes 3 m in 10 ns, a DRAM page fault and a copy take 1 us: no device behind a bus answers within it.
FASTER_THAN_A_DEVICE_NS = 3_000
# One revolution at 15,000 a minute: what a write to a rotating disk without a cache waits for, in the mean twice.
REVOLUTION_NS = 4_000_000
# Flash needs more than this to program a page; less is a cache, which must then survive a power cut.
FLASH_PROGRAM_NS = 50_000

# Two that share nothing get all of what they get alone; two that share everything, a half.
SHARED = 0.8
# A read after a rest takes so much longer for a reason: an idle state, not the noise of two medians.
SLOW_AFTER_REST = 1.3
# Slow reads twice as slow: what a checkpoint should be spread to avoid. Where reads and writes together come near the
# knee they queue whatever they are, so that says nothing about writes.
SLOW_BESIDE_WRITES, WITHIN_THE_KNEE = 2.0, 0.75


def verdicts(of: Calibration, zero_share: float) -> tuple[Verdict, ...]:
    """All that was recognised."""
    return tuple(
        [
            *_caches(of.cache, of.spans),
            *_faster_than_light(of.idle),
            *_above(of.ceilings),
            *_slow_regions(of.files),
            *_shared(of.files),
            *_zeros(zero_share),
            *_modes(of.modes, of.idle),
            *_throttle(of.burst),
            *_stalls(of.stalls),
            *_rest(of.rested),
            *_flush(of.inventory.get("queue", {}), of.flush),
            *_writes(of.mixed),
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


def _above(ceilings: Sequence[Ceiling]) -> Iterator[Verdict]:
    for one in ceilings:
        if not one.above:
            continue
        if one.name == "link_bytes_per_s":
            yield Verdict(
                "faster_than_link",
                f"Faster than its link: {_rate(one.reached.estimate)} over {one.says}, which carries "
                f"{_rate(one.most)}: this is a cache.",
            )
        else:
            reached, most = (
                (f"{one.reached.estimate:,.0f} IOPS", f"{one.most:,.0f}")
                if one.name == "expected_iops"
                else (_rate(one.reached.estimate), _rate(one.most))
            )
            yield Verdict(
                "faster_than_expected",
                f"Faster than expected: {reached}, {one.says} says {most}: a cache answers, or that is another device.",
            )


def _slow_regions(files: Sequence[FileFigures]) -> Iterator[Verdict]:
    for file in files:
        for name, third in zip(("first", "middle", "last"), file.thirds, strict=False):
            if third.slow:
                within = "" if third.ratio.low is None else f" [{third.ratio.low:.2g}, {third.ratio.high:.2g}]"
                yield Verdict(
                    "slow_region",
                    f"The {name} third of {file.path} is {third.ratio.estimate:.2g}{within} times slower than the "
                    "rest of it.",
                )


def _shared(files: Sequence[FileFigures]) -> Iterator[Verdict]:
    """What each loses while the others are read, they have: a spindle, a link or a limit is shared."""
    slowed = [
        file
        for file in files
        if file.together is not None and file.together.high is not None and file.together.high < SHARED
    ]
    if len(slowed) > 1:
        shares = ", ".join(f"{file.path} {file.together.estimate:.2f}" for file in slowed if file.together is not None)
        yield Verdict(
            "shared_device",
            f"These share a device, a link or a limit: read at the same time each gets a part of what it gets alone "
            f"({shares}).",
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


def _stalls(stalls: Sequence[Stall]) -> Iterator[Verdict]:
    if not stalls:
        return
    longest = max(stalls, key=lambda stall: stall.for_ns)
    times = "Once" if len(stalls) == 1 else f"{len(stalls)} times"
    late = longest.for_ns / 1e9 * longest.per_s
    yield Verdict(
        "stall",
        f"{times} nothing ended for {'' if len(stalls) == 1 else 'up to '}{longest.for_ns / 1e9:.1f} s although "
        f"something was asked for; a load of {longest.per_s:,.0f} a second that does not wait has some {late:,.0f} "
        "late ones then.",
    )


def _rest(rested: Rested | None) -> Iterator[Verdict]:
    if rested is not None and rested.ratio.low is not None and rested.ratio.low > SLOW_AFTER_REST:
        yield Verdict(
            "slow_after_rest",
            f"After {_time(rested.gap_ns)} without work a read takes {rested.ratio.estimate:.1f} times as long as at "
            "once: the device or the CPU goes to sleep.",
        )


def _writes(mixed: Sequence[Mixed]) -> Iterator[Verdict]:
    """The fewest writes that double the slow reads, at the lowest rate of reads."""
    slowed = [
        one
        for one in mixed
        if one.read_share + one.write_share < WITHIN_THE_KNEE
        and one.ratio is not None
        and one.ratio.low is not None
        and one.ratio.low > SLOW_BESIDE_WRITES
    ]
    if slowed:
        first = min(slowed, key=lambda one: (one.read_share, one.write_share))
        assert first.ratio is not None
        yield Verdict(
            "writes_slow_reads",
            f"Beside {first.writes_per_s.estimate:,.0f} random writes a second and a checkpoint's flushes the slowest "
            f"1 % of the reads take {first.ratio.estimate:.1f} times as long ({_time(first.p99_ns.estimate)}): spread "
            "checkpoints wide.",
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
    return f"{ns / 1e3:.0f} us" if ns < 1e6 else f"{ns / 1e6:.3g} ms"


def _rate(bytes_per_s: float) -> str:
    return f"{bytes_per_s / 1e9:.2f} GB/s" if bytes_per_s >= 1e9 else f"{bytes_per_s / 1e6:.0f} MB/s"


def _size(bytes_: float) -> str:
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB")):
        if bytes_ >= unit:
            return f"{bytes_ / unit:.3g} {name}"
    return f"{bytes_ / 1024:.3g} KiB"
