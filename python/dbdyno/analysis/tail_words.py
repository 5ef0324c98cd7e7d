"""The tail in one sentence: how much slower, and of what, as far as it is known.

The slowest 0.94 % (above 8.71 ms, 226 units) take 7.32 ms more than median units (40 to 60 %): 94 % [91, 96] of it
is LWLock:WALWrite (8.51 ms, 1.64 in a median unit); 4.6 % [2.2, 7.5] IO:WalSync.
"""

from __future__ import annotations

import math

from dbdyno.analysis.findings import Band, Estimate, ExtraPart, Tail

PART_WORDS = {
    "queue": "queue time before the start",
    "cpu": "CPU",
    "run_queue": "the run queue",
    "asleep_no_wait_event": "sleep without a wait event",
    "client_and_network": "client and network",
    "unaccounted": "time without a wait event",
}
# Name parts until so much of the extra time is explained, but no more than three.
EXPLAINED = 0.9
NAMED_PARTS = 3


def sentence(tail: Tail) -> str:
    """The whole answer, also where it is that there is none."""
    extra_ns = tail.extra_ns.estimate
    more = f"{_duration(abs(extra_ns))} {'more' if extra_ns >= 0 else 'less'} than median units"
    lead = f"{_units(tail.slow)} take {more} ({_range(tail.median)})"
    if tail.answer == "too_few_snapshots":
        fewest = min(tail.slow.snapshots, tail.median.snapshots)
        return f"{lead}; too few snapshots ({fewest}) to say what it is."
    told = [part for part in tail.extra if part.told and part.ns.estimate * extra_ns > 0]
    if not told:
        if tail.extra_ns.low is None:
            return f"{lead}; too few trials to say what it is."
        return f"{lead}; no part of it is told from chance ({tail.slow.snapshots:,} snapshots)."
    named = _named(told)
    said = [f"{_share(named[0].share)} of it is {_part(named[0], tail)}"]
    said += [f"{_share(part.share)} {_words(part)}{_beside(part, named)}" for part in named[1:]]
    return f"{lead}: {'; '.join(said)}.{_caution(tail)}"


def _named(told: list[ExtraPart]) -> list[ExtraPart]:
    named: list[ExtraPart] = []
    for part in told[:NAMED_PARTS]:
        if sum(one.share.estimate for one in named) < EXPLAINED:
            named.append(part)
    return named


def _units(band: Band) -> str:
    units = f"{band.units:,} unit{'' if band.units == 1 else 's'}"
    if band.high_ns is None:
        return f"The slowest {_percent(band.share)} % (above {_duration(band.low_ns or 0.0)}, {units})"
    edges = f"below {_duration(band.high_ns)}"
    if band.low_ns is not None:
        edges = f"{_duration(band.low_ns)} to {_duration(band.high_ns)}"
    return f"The units from {_range(band)} ({edges}, {units})"


def _range(band: Band) -> str:
    return f"{band.from_share * 100:g} to {band.to_share * 100:g} %"


def _share(share: Estimate) -> str:
    if share.low is None or share.high is None:
        return f"{_percent(share.estimate)} %"
    return f"{_percent(share.estimate)} % [{_percent(share.low)}, {_percent(share.high)}]"


def _part(part: ExtraPart, tail: Tail) -> str:
    """The greatest part, with its time in both bands."""
    slow, median = (_time(band, part.part) for band in (tail.slow, tail.median))
    usual = f"in a median unit {_duration(median)}" if median else "none in a median unit"
    return f"{_words(part)} ({_duration(slow)}, {usual})"


def _time(band: Band, part: str) -> float:
    return next((one.ns.estimate for one in band.parts if one.part == part), 0.0)


def _words(part: ExtraPart) -> str:
    name = PART_WORDS.get(part.part, part.part)
    return name if part.note is None else f"{name} ({part.note})"


def _beside(part: ExtraPart, named: list[ExtraPart]) -> str:
    """Which of two parts is greater is not said where it is not known."""
    before = named[named.index(part) - 1]
    return f" (not told apart from {_words(before)})" if part.rank_group == before.rank_group else ""


def _caution(tail: Tail) -> str:
    if tail.resampled == "trials":
        return ""
    return f" Few trials: the intervals come from {tail.clusters} chunks of them."


def _percent(share: float) -> str:
    value = share * 100
    return f"{value:.0f}" if abs(value) >= 9.95 else f"{value:.2g}"


def _duration(ns: float) -> str:
    """Three significant digits in a unit of its own."""
    if ns <= 0:
        return "0"
    name, size = next((unit for unit in (("s", 1e9), ("ms", 1e6), ("us", 1e3)) if ns >= 0.3 * unit[1]), ("ns", 1.0))
    value = ns / size
    return f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f} {name}"
