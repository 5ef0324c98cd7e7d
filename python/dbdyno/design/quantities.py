"""Durations, shares and rates as people write them in an experiment file, as integers and floats inside."""

from __future__ import annotations

import re

_NANOSECONDS = {"ns": 1, "us": 1_000, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000, "min": 60_000_000_000}
_NUMBER_AND_UNIT = re.compile(r"\s*(?P<number>[0-9]+(?:\.[0-9]+)?)\s*(?P<unit>[^\s0-9]+)\s*")


def duration_ns(value: object) -> int:
    """`"300 ms"` -> 300000000. A bare number is refused: its unit would be a guess."""
    if isinstance(value, str) and (match := _NUMBER_AND_UNIT.fullmatch(value)):
        unit = _NANOSECONDS.get(match["unit"])
        if unit is not None:
            return round(float(match["number"]) * unit)
    raise ValueError('is not a duration; write a number and a unit (us, ms, s, min), for example "300 ms"')


def share(value: object) -> float:
    """`"3 %"` -> 0.03."""
    if isinstance(value, str) and (match := _NUMBER_AND_UNIT.fullmatch(value)) and match["unit"] == "%":
        return float(match["number"]) / 100.0
    raise ValueError('is not a percentage; write for example "3 %"')
