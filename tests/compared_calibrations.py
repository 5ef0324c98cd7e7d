"""Calibrations of devices of known law to compare, each on the day of its seed."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

from programmed_device import law, without
from programmed_device import recorded as programmed

from dbdyno.analysis.calibrations_compared.record import Recorded
from dbdyno.calibration.budget import MIB, S

# Three depths say what eight do, in a third of the time.
SHORT = dataclasses.replace(without("cache_map", "sizes", "burst", "group_commit", "mixed"), depths=(1, 8, 64))
# With so few cells Little's law may fail by the one read of eight that a window's edge cuts: so a longer window.
READS_AND_FLUSHES = dataclasses.replace(
    without("cache_map", "sizes", "burst", "group_commit", "mixed", "sweep"), rested_window_ns=4 * S
)
CACHE = {"bytes": 64 * MIB, "median_ns": 20_000.0, "sigma": 0.2}


def device(times: float = 1.0, flush_times: float = 1.0, **more: Any) -> dict[str, Any]:
    """The usual law with reads and flushes that take so many times as long."""
    return law(
        modes=[{"share": 1.0, "median_ns": 100_000.0 * times, "sigma": 0.2}],
        flush={"median_ns": 120_000.0 * flush_times, "sigma": 0.1, "times": {}},
        **more,
    )


def recorded(
    day: int, of: dict[str, Any] | None = None, budget: Any = SHORT, seed: int | None = None, **inventory: Any
) -> Recorded:
    """A calibration of that day of November, on db7 unless told otherwise; its seed is the day unless given."""
    record = programmed(of or device(), day if seed is None else seed, budget, **{"host": "db7", **inventory})
    return Recorded(f"day-{day}", {**record, "measured_at": f"2026-11-{day:02d}T06:00:00+00:00"})


@functools.cache
def usual(days: int, first: int = 1) -> tuple[Recorded, ...]:
    """So many calibrations of one unchanged device, one a day."""
    return tuple(recorded(day) for day in range(first, first + days))
