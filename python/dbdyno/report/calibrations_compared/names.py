"""What the figures of a calibration are called, and how their values are written."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from dbdyno.analysis.calibrations_compared.findings import FigureName
from dbdyno.analysis.findings import Estimate
from dbdyno.report import numbers

PERCENTILES = {"p50_ns": "p50", "p99_ns": "p99", "iops": "IOPS"}
GIGABYTES_PER_S, MEGABYTES_PER_S = numbers.Unit("GB/s", 1e9), numbers.Unit("MB/s", 1e6)
# Few blocks or calibrations can give intervals over many powers of ten, whose ends say nothing but that.
LEAST_RATIO, MOST_RATIO = 0.01, 100.0


def figure_name(figure: FigureName) -> str:
    """The figure in a few words."""
    level = figure.level
    match figure.phase:
        case "idle":
            return f"idle read, {PERCENTILES[figure.quantity]}"
        case "knee":
            return "IOPS at the knee"
        case "sweep":
            return f"depth {level['depth']}, {PERCENTILES[figure.quantity]}"
        case "sizes":
            order = "in order" if level["sequential"] else "random"
            return f"{numbers.exact_size(int(level['io_bytes']))} {order}, {level['depth']}"
        case "burst":
            return "burst rate" if figure.quantity == "burst_bytes_per_s" else "sustained rate"
        case "flush":
            return f"{level['method']}, p50"
        case "group_commit":
            return "1 writer" if level["writers"] == 1 else f"{level['writers']} writers"
        case _:
            return f"gain within {numbers.exact_size(int(level['span_bytes']))}"


def unit_of(figure: FigureName, values: Sequence[float]) -> numbers.Unit:
    """The unit in which most of the values are at least 1; that of counts and gains is 1."""
    if figure.quantity.endswith("_ns"):
        units: tuple[numbers.Unit, ...] = (numbers.SECONDS, numbers.MILLISECONDS, numbers.MICROSECONDS)
    elif figure.quantity.endswith("bytes_per_s"):
        units = (GIGABYTES_PER_S, MEGABYTES_PER_S)
    else:
        return numbers.ONE
    return next((unit for unit in units if median(values) >= unit.size), units[-1])


def value(figure: FigureName, of: float) -> str:
    """A value with its unit: 104 us, 1.27 GB/s, 62,300."""
    if figure.quantity == "gain":
        return numbers.ratio(of)
    unit = unit_of(figure, [of])
    return f"{numbers.in_unit(of, unit)} {unit.name}".rstrip()


def ratio(of: float) -> str:
    """A ratio, or that it is beyond all that could be said of it."""
    if of > MOST_RATIO:
        return f">{MOST_RATIO:g}x"
    return f"<{LEAST_RATIO:g}x" if of < LEAST_RATIO else numbers.ratio(of)


def interval(estimate: Estimate) -> str:
    """The ends of a ratio's interval: [0.94, 1.08]."""
    if estimate.low is None or estimate.high is None:
        return numbers.NOTHING
    return f"[{ratio(estimate.low).removesuffix('x')}, {ratio(estimate.high).removesuffix('x')}]"
