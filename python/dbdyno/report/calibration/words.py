"""What the terminal and the page say alike: knees and what makes them one, modes, cache, burst, flushes.

A knee is disputed, so it never stands without its formula; and "none was seen" is said with what could have been seen.
"""

from __future__ import annotations

import re
import shlex
from datetime import UTC, datetime

from dbdyno.analysis.calibration.findings import Burst, Calibration, Knee
from dbdyno.analysis.findings import Estimate
from dbdyno.report import numbers

MEGABYTES, MEGABYTES_PER_S = numbers.Unit("MB", 1e6), numbers.Unit("MB/s", 1e6)
PATTERNS = {
    "clustered": "clustered: they come in bursts, as from a throttle or another tenant",
    "scattered": "scattered: any I/O may be one, as with a tier or a cache miss",
}
UNKNOWN_PATTERN = "too few to tell how they come"
# By the beginning of the formula.
FORMULAS = (
    ("max X/R", "the load with the most throughput X for the response time R that it costs"),
    ("max X", "the most throughput at any price: beyond a knee it is bought with time, so it is no knee itself"),
    ("largest depth with p99", "the greatest load at which slow reads are still about as fast as on an idle device"),
)  # fmt: skip
QUALITIES = {
    "sound": "sound: the figures may be relied on",
    "indicative": "indicative: the order of magnitude holds, the last digits do not",
    "no conclusion": "no conclusion: the machine or the time did not allow one",
}
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def lettered(calibration: Calibration) -> list[tuple[str, Knee]]:
    """The knees with the letters that mark them in tables and pictures."""
    return list(zip(LETTERS, calibration.knee, strict=False))


def letters_at(calibration: Calibration, depth: int) -> str:
    """The letters of the knees at a depth, as in `A B`."""
    return " ".join(letter for letter, knee in lettered(calibration) if knee.depth == depth)


def knee_sentence(knee: Knee, calibration: Calibration) -> str:
    """Where it is, how well that is known, and what the formula means."""
    depth = str(knee.depth)
    if knee.depth_low != knee.depth_high:
        least = "perhaps none" if knee.depth_low == 0 else str(knee.depth_low)
        depth += f" ({least} to {knee.depth_high})"
    said = (
        f"{formula_words(knee.formula)}: depth {depth}, {numbers.significant(knee.iops.estimate)} IOPS{ends(knee.iops)}"
    )
    said += f"; {meaning}" if (meaning := formula_meaning(knee.formula)) else ""
    if calibration.loads and knee.depth == max(load.depth for load in calibration.loads):
        said += "; no greater depth was measured, so it may lie beyond"
    return f"{said}."


def formula_words(formula: str) -> str:
    """A formula as it is, but for a budget of nanoseconds, which gets a human unit."""
    return re.sub(r"(\d+) ns\b", lambda found: numbers.exact_duration(int(found[1])), formula)


def formula_meaning(formula: str) -> str:
    """What a formula finds, in words; empty for one that is not known here."""
    return next((words for start, words in FORMULAS if formula.startswith(start)), "")


def ends(estimate: Estimate) -> str:
    """The interval of a rate in round brackets, with a space before it; empty where there is none."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f" ({numbers.significant(estimate.low)} to {numbers.significant(estimate.high)})"


def _pattern(of_mode: str | None) -> str:
    """When the I/Os of a mode come."""
    return UNKNOWN_PATTERN if of_mode is None else PATTERNS.get(of_mode, of_mode)


def patterns(calibration: Calibration) -> list[tuple[str, str]]:
    """Which modes come how, those that come alike together: (`modes 1 and 3`, `scattered: ...`)."""
    found: dict[str, list[str]] = {}
    for place, mode in enumerate(calibration.modes, 1):
        found.setdefault(_pattern(mode.pattern), []).append(str(place))
    return [(f"mode{'s' if len(places) > 1 else ''} {_listed(places)}", words) for words, places in found.items()]


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def modes_sentence(calibration: Calibration) -> str:
    """How many there are, and what that means."""
    if len(calibration.modes) == 1:
        return "One mode: the reads are of one kind, and their median speaks for them."
    return f"{len(calibration.modes)} modes: the reads are of different kinds, and the mean over all is that of none."


def cache_sentence(calibration: Calibration) -> str:
    """The cache that was seen, or within which spans none was."""
    cache = calibration.cache
    if cache is not None:
        within = numbers.interval(cache.ratio.low, cache.ratio.high)
        bounds = "" if within == numbers.NOTHING else f" (95 % {within})"
        return (
            f"A cache of {numbers.exact_size(cache.bytes_)} or more: reads within so much take "
            f"{numbers.duration(cache.inside_ns)}, reads all over the file {numbers.ratio(cache.ratio.estimate)} "
            f"as long{bounds}, p {_p(cache.p_value)}."
        )
    if not calibration.spans:
        return "No cache was looked for."
    spans = [span.span_bytes for span in calibration.spans]
    return (
        f"No cache was seen between {numbers.exact_size(min(spans))} and {numbers.exact_size(max(spans))}; "
        "one that holds the whole file, or is smaller than the smallest span, cannot be told."
    )


def burst_sentence(burst: Burst) -> str:
    """Both rates of a throttled device, or that there was no throttle to see."""
    seconds = numbers.exact_duration(burst.step_ns * len(burst.bytes_per_step))
    if burst.bucket is None:
        said = f"No throttle within {seconds} of all that the device gives."
    else:
        bucket = burst.bucket
        said = (
            f"A token bucket: {rate(bucket.burst_bytes_per_s)} for {numbers.duration(bucket.burst_for_ns.estimate)}, "
            f"then {rate(bucket.sustained_bytes_per_s)}; a full bucket holds "
            f"{numbers.in_unit(bucket.bucket_bytes.estimate, MEGABYTES)} MB above the sustained rate."
        )
    return said if burst.steady is None else f"{said} The end of it, by the rule of the SNIA: {burst.steady}."


def rested_sentence(calibration: Calibration) -> str:
    """What a rest does to a read; empty where it was not measured."""
    rested = calibration.rested
    if rested is None:
        return ""
    after = numbers.duration(rested.latency.p50_ns.estimate)
    return (
        f"After {numbers.exact_duration(rested.gap_ns)} of rest on average the median read takes {after}, "
        f"{numbers.ratio(rested.ratio.estimate)}{times_ends(rested.ratio)} that without a rest."
    )


def growing_sentence(calibration: Calibration) -> str:
    """What a log that grows costs against one that is written over; empty where it was not measured."""
    growing = calibration.flush_growing
    if growing is None or growing.ratio is None:
        return ""
    advice = (
        "; segments that are recycled (wal_recycle, wal_init_zero) spare that" if growing.verdict == "worse" else ""
    )
    return (
        f"In a file that grows a commit by fdatasync takes {numbers.ratio(growing.ratio.estimate)}"
        f"{times_ends(growing.ratio)} the time of one that writes over what is there{advice}."
    )


def times_ends(ratio: Estimate) -> str:
    """The interval of a ratio in brackets; empty where there is none."""
    return f" {numbers.interval(ratio.low, ratio.high)}" if ratio.low is not None else ""


def rate(estimate: Estimate) -> str:
    """Bytes a second with the interval: 2,730 MB/s (2,690 to 2,780)."""
    value = numbers.in_unit(estimate.estimate, MEGABYTES_PER_S)
    if estimate.low is None or estimate.high is None:
        return f"{value} MB/s"
    low, high = (numbers.in_unit(end, MEGABYTES_PER_S) for end in (estimate.low, estimate.high))
    return f"{value} MB/s ({low} to {high})"


def notes_of(calibration: Calibration, figure: str) -> list[str]:
    """What a figure of CALIBRATE_IO hides: the notes that name it first; for "" those that name none."""
    noted = [] if calibration.calibrate_io is None else calibration.calibrate_io.notes
    return [note for note in noted if _named_first(note) == figure]


def _named_first(note: str) -> str:
    found = re.search(rf"\b({'|'.join(CALIBRATE_IO_FIGURES)})\b", note)
    return "" if found is None else found[1]


CALIBRATE_IO_FIGURES = ("max_iops", "latency", "max_mbps", "max_pmbps")


def calibrate_io_loads(calibration: Calibration) -> str:
    """Which loads the figures are of: CALIBRATE_IO does not say."""
    figures = calibration.calibrate_io
    if figures is None:
        return ""
    in_flight = numbers.significant(figures.concurrency)
    return (
        f"max_iops and latency are those of depth {figures.depth} ({in_flight} in flight, by Little's law), max_mbps "
        f"that of {numbers.count(figures.large_depth, 'large read')} at a time, max_pmbps that of one."
    )


def calibrate_io_figures(calibration: Calibration) -> dict[str, str]:
    """The four figures by the names that CALIBRATE_IO gives them, as plain numbers."""
    figures = calibration.calibrate_io
    if figures is None:
        return {}
    values = (figures.max_iops, f"{figures.latency_ms:.3g}", figures.max_mbps, figures.max_pmbps)
    return {name: str(value) for name, value in zip(CALIBRATE_IO_FIGURES, values, strict=True)}


def measured_words(calibration: Calibration) -> str:
    """How much was measured, where and with what: no figure without it."""
    inventory = calibration.inventory
    moved = f"{numbers.size(calibration.bytes_read)} read, {numbers.size(calibration.bytes_written)} written"
    where = " on ".join(str(inventory[key]) for key in ("file_system", "device") if inventory.get(key))
    return (
        f"Measured: {when(calibration)}, budget {calibration.budget}, by {calibration.engine}"
        f"{f', {where}' if where else ''}; a file of {numbers.exact_size(calibration.file_bytes)}, {moved}."
    )


def when(calibration: Calibration) -> str:
    """The minute in UTC; a text that is no time as it stands."""
    try:
        return f"{datetime.fromisoformat(calibration.measured_at).astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    except ValueError:
        return calibration.measured_at


def directory_of(calibration: Calibration) -> str:
    """The directory that was measured, or the files."""
    if calibration.files:
        return ", ".join(file.path for file in calibration.files)
    return str(calibration.inventory.get("directory", "the storage"))


def arguments_of(calibration: Calibration) -> str:
    """What dbdyno calibrate was told to measure, as typed."""
    if calibration.files:
        return " ".join(f"--read-only {shlex.quote(file.path)}" for file in calibration.files)
    return shlex.quote(directory_of(calibration))


def _p(value: float) -> str:
    said = numbers.p_value(value)
    return said if said.startswith("<") else f"= {said}"
