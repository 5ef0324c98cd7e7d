"""Figures as a reader sees them: three significant digits, one unit for all figures that are compared.

A unit is chosen once, from the largest figure of a column or a chart, so that no two rows differ in unit.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable

from dbdyno.analysis.findings import Estimate


@dataclasses.dataclass(frozen=True, slots=True)
class Unit:
    """A unit and how many base units (nanoseconds, bytes) it holds."""

    name: str
    size: float

    def text(self, value: float) -> str:
        """The figure alone, for a column whose heading names the unit."""
        return number(value / self.size)

    def named(self, value: float) -> str:
        """The figure and its unit."""
        return f"{self.text(value)} {self.name}"


TIME_UNITS = (Unit("s", 1e9), Unit("ms", 1e6), Unit("µs", 1e3), Unit("ns", 1.0))
BYTE_UNITS = (Unit("GiB", 2.0**30), Unit("MiB", 2.0**20), Unit("KiB", 2.0**10), Unit("B", 1.0))


def time_unit(values_ns: Iterable[float]) -> Unit:
    """The unit of time in which the largest of `values_ns` is at least 1."""
    return _fitting(TIME_UNITS, values_ns)


def byte_unit(values: Iterable[float]) -> Unit:
    """The unit of size in which the largest of `values` is at least 1."""
    return _fitting(BYTE_UNITS, values)


def number(value: float) -> str:
    """Three significant digits but at most three decimals, thousands apart, a true minus sign."""
    rounded = round(value, _decimals(value))
    # 9.996 rounds up to 10.0, which has one decimal less than 9.996 asked for.
    return f"{rounded:,.{max(0, _decimals(rounded))}f}".replace("-", "−")


def whole(value: int) -> str:
    """A count, thousands apart."""
    return f"{value:,}"


def percent(share: float) -> str:
    """A share of 1 as a percentage with at most one decimal."""
    points = round(share * 100, 0 if abs(share) >= 0.0995 else 1)
    return f"{points:g} %".replace("-", "−")


def ratio(value: float) -> str:
    """A ratio, with enough digits to tell it from 1."""
    return f"×{value:.3f}" if 0.9 <= value < 1.1 else f"×{number(value)}"


def ratio_ends(effect: Estimate) -> str:
    """The ends of a ratio's interval; empty where there were too few blocks for one."""
    if effect.low is None or effect.high is None:
        return ""
    return f"{ratio(effect.low)[1:]} to {ratio(effect.high)[1:]}"


def _decimals(value: float) -> int:
    if value == 0:
        return 0
    return min(3, 2 - math.floor(math.log10(abs(value))))


def _fitting(units: tuple[Unit, ...], values: Iterable[float]) -> Unit:
    largest = max((abs(value) for value in values), default=0.0)
    return next((unit for unit in units if largest >= unit.size), units[-1])
