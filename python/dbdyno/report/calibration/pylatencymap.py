"""A heat map over time as PyLatencyMap reads it from stdin, so that a calibration can be played back in a terminal:

    latencymap --min_bucket=5 < FILE
    (pip install PyLatencyMap; by Luca Canali, https://github.com/LucaCanali/PyLatencyMap)

The format is that of the head of its LatencyMap.py, version 1.3, and of the parser beneath it; what is written here was
played back with that version:

    <begin record>
    timestamp,microsec,1795356187000000,2026-11-22 14:03:07.000 UTC
    latencyunit,microsec
    label,dbdyno calibrate: time
    datasource,oracle
    64,812                   a power of two, and how many I/Os so far: counts are cumulative
    <end record>

- `oracle` says that a bucket is called by its upper bound (it then takes 0.75 x bucket for the time of one I/O); for
  the other sources it is the lower one.
- A line is split at commas, so no text may hold one; one label has exactly one.
- The program draws differences between records, so the first one says zero: it is the moment in which steps begin.

- Unless told otherwise it shows all that is faster than 128 us as one row: hence `command`.

A bin of ours goes to the bucket that holds its middle, which misplaces at most the I/Os of one bin, 4.7 % wide, in each
octave.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from dbdyno.analysis.calibration.findings import HeatMap

NS_PER_US = 1_000
# A terminal is hardly wider; each takes two characters.
MOST_COLUMNS = 120


def records(heat_map: HeatMap, measured_at: str, label: str) -> str:
    """All records of a heat map over time.

    Args:
        heat_map: one whose columns are steps of time.
        measured_at: when the first step began, in ISO 8601.
        label: stands beneath the picture.
    """
    if heat_map.step_ns is None:
        raise ValueError(f"the columns of {heat_map.name} are loads, not steps of time")
    began, step = (
        datetime.fromisoformat(measured_at).astimezone(UTC),
        timedelta(microseconds=heat_map.step_ns / NS_PER_US),
    )
    texts = [
        _record(began + place * step, f"{label}: {heat_map.name}", counts)
        for place, counts in enumerate(_cumulative(heat_map))
    ]
    return "".join(texts)


def over_time(heat_maps: Sequence[HeatMap]) -> HeatMap | None:
    """The one to play back: the first whose columns are steps of time."""
    return next((one for one in heat_maps if one.step_ns is not None), None)


def command(heat_map: HeatMap, path: str) -> str:
    """What to type to play the records back: from the row of the fastest I/O on, a column for each step."""
    fastest = min((_bucket_us(place, heat_map.bins_per_decade) for _, place, ios in heat_map.cells if ios), default=1)
    columns = min(len(heat_map.columns) + 1, MOST_COLUMNS)
    return f"latencymap --min_bucket={fastest.bit_length() - 1} --num_records={columns} < {shlex.quote(path)}"


def _cumulative(heat_map: HeatMap) -> Iterator[dict[int, int]]:
    """What was counted in each bucket before the first step, and to the end of each."""
    by_column: list[list[tuple[int, int]]] = [[] for _ in heat_map.columns]
    for column, place, ios in heat_map.cells:
        by_column[column].append((_bucket_us(place, heat_map.bins_per_decade), ios))
    counts = dict.fromkeys(sorted({bucket for cells in by_column for bucket, _ in cells}), 0)
    yield dict(counts)
    for cells in by_column:
        for bucket, ios in cells:
            counts[bucket] += ios
        yield dict(counts)


def _bucket_us(place: int, bins_per_decade: int) -> int:
    """The smallest power of two in microseconds that is not below the middle of a bin; 1 for all that is faster."""
    middle_us = 10.0 ** ((place + 0.5) / bins_per_decade) / NS_PER_US
    bucket = 1
    while bucket < middle_us:
        bucket *= 2
    return bucket


def _record(at: datetime, label: str, counts: dict[int, int]) -> str:
    at_us = (at - datetime.fromtimestamp(0, UTC)) // timedelta(microseconds=1)
    lines: Sequence[str] = (
        "<begin record>",
        f"timestamp,microsec,{at_us},{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03d} UTC",
        "latencyunit,microsec",
        f"label,{_without_commas(label)}",
        "datasource,oracle",
        *(f"{bucket},{ios}" for bucket, ios in counts.items()),
        "<end record>",
    )
    return "".join(f"{line}\n" for line in lines)


def _without_commas(text: str) -> str:
    return " ".join(text.replace(",", " ").split())
