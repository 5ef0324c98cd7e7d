"""Durations, shares and sizes as people write them in an experiment file, as integers and floats inside."""

from __future__ import annotations

import re

_NANOSECONDS = {"ns": 1, "us": 1_000, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000, "min": 60_000_000_000}
_BYTES = {"B": 1, "kB": 1024, "KiB": 1024, "MB": 1024**2, "MiB": 1024**2, "GB": 1024**3, "GiB": 1024**3}
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


def size_bytes(value: object) -> int:
    """`"10 MB"` -> 10485760; units as PostgreSQL has them, powers of 1024."""
    if isinstance(value, str) and (match := _NUMBER_AND_UNIT.fullmatch(value)) and match["unit"] in _BYTES:
        return round(float(match["number"]) * _BYTES[match["unit"]])
    raise ValueError('is not a size; write a number and a unit (B, kB, MB, GB), for example "10 MB"')
