"""Figures of the page: `report.numbers` says how a number is written, this module which unit a chart or column has.

A unit is chosen once, from the largest figure of a column or a chart, so that no two rows differ in unit; from the
middle one where figures lie many powers of ten apart, of which the largest would make zeros of most.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from dbdyno.analysis.findings import Estimate
from dbdyno.report import numbers


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


def middle_time_unit(values_ns: Sequence[float]) -> Unit:
    """The unit of time for a column whose figures lie far apart."""
    return _same(TIME_UNITS, numbers.time_unit(_middle(values_ns)))


def middle_byte_unit(values: Sequence[float]) -> Unit:
    """The unit of size for a column whose figures lie far apart."""
    return _same(BYTE_UNITS, numbers.byte_unit(_middle(values)))


def number(value: float) -> str:
    """Three significant digits, with a true minus sign."""
    return numbers.significant(value).replace("-", "−")


def whole(value: int) -> str:
    """A count, thousands apart."""
    return f"{value:,}"


def ratio_ends(effect: Estimate) -> str:
    """The ends of a ratio's interval; empty where there were too few blocks for one."""
    if effect.low is None or effect.high is None:
        return ""
    return f"{numbers.ratio(effect.low)} to {numbers.ratio(effect.high)}"


def _middle(values: Sequence[float]) -> float:
    """The upper median of what is not zero."""
    counted = sorted(abs(value) for value in values if value)
    return counted[len(counted) // 2] if counted else 0.0


def _same(units: tuple[Unit, ...], wanted: numbers.Unit) -> Unit:
    return next(unit for unit in units if unit.size == wanted.size)


def _fitting(units: tuple[Unit, ...], values: Iterable[float]) -> Unit:
    largest = max((abs(value) for value in values), default=0.0)
    return next((unit for unit in units if largest >= unit.size), units[-1])
