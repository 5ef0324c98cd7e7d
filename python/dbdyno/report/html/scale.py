"""Axes: round figures with their units on logarithmic ones, and one of measurements by their days."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from datetime import UTC, datetime

from dbdyno.report.html.chart import Json, literal
from dbdyno.report.html.quantity import number, time_unit

# Ratios that people name; the coarsest set with at least three in sight is used.
RATIO_STEPS: tuple[tuple[float, ...], ...] = (
    tuple(10.0**power for power in range(-6, 7)),
    tuple(mantissa * 10.0**power for power in range(-3, 4) for mantissa in (1, 2, 5)),
    (0.25, 0.33, 0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 3, 4),
    (0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3, 1.5),
    tuple(round(1 + step / 20, 2) for step in range(-8, 9)),
    tuple(round(1 + step / 50, 2) for step in range(-20, 21)),
    tuple(round(1 + step / 100, 2) for step in range(-20, 21)),
    tuple(round(1 + step / 200, 3) for step in range(-20, 21)),
    tuple(round(1 + step / 1000, 3) for step in range(-20, 21)),
)

# How many times too low or too high, from fine to coarse; the finest set with few enough in sight is used.
FACTOR_STEPS: tuple[tuple[float, ...], ...] = (
    *(
        tuple(mantissa * 10.0**power for power in range(12) for mantissa in mantissas)
        for mantissas in ((1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1, 3))
    ),
    *(tuple(10.0 ** (decades * power) for power in range(12)) for decades in (1, 2, 3)),
)
MOST_FACTORS, MOST_CHARACTERS = 6, 36

# On a telephone a tick of two lines takes about 50 px.
MOST_DATES, MOST_TICKS = 6, 12


def ratio_range(values: Sequence[float], margin: float) -> tuple[float, float]:
    """A range that shows all `values`, 1 and the margin, with a little air."""
    low = min([*values, 1 / (1 + margin)])
    high = max([*values, 1 + margin])
    air = (high / low) ** 0.06
    return low / air, high * air


def ratio_axis(low: float, high: float) -> Json:
    """A logarithmic axis of ratios from `low` to `high`."""
    inside = [[tick for tick in steps if low <= tick <= high] for steps in RATIO_STEPS]
    ticks = next((ticks for ticks in inside if len(ticks) >= 3), [1.0])
    return {
        "type": "log",
        "range": [math.log10(low), math.log10(high)],
        "tickmode": "array",
        "tickvals": ticks,
        "ticktext": [f"{tick:g}x" for tick in ticks],
    }


def off_axis(low: float, high: float) -> Json:
    """A logarithmic axis of ratios from `low` to `high`, around 1, whose ticks say how many times to either side."""
    possible = [_factor_ticks(steps, low, high) for steps in FACTOR_STEPS]
    ticks = next((ticks for ticks in possible if _fit(ticks.values())), possible[-1])
    return ratio_axis(low, high) | {"tickvals": list(ticks), "ticktext": list(ticks.values())}


def _factor_ticks(steps: Sequence[float], low: float, high: float) -> dict[float, str]:
    below = {1 / step: _times(step) for step in reversed(steps) if 1 < step <= 1 / low}
    return below | {step: _times(step) for step in steps if step <= high}


def _fit(texts: Collection[str]) -> bool:
    return len(texts) <= MOST_FACTORS and sum(map(len, texts)) <= MOST_CHARACTERS


def _times(step: float) -> str:
    return f"{step:,.1f}".removesuffix(".0") + "x"


def time_axis(low_ns: float, high_ns: float) -> Json:
    """A logarithmic axis of times; each tick carries its unit."""
    decades = range(math.floor(math.log10(low_ns)), math.ceil(math.log10(high_ns)) + 1)
    mantissas = (1,) if math.log10(high_ns / low_ns) > 2.2 else (1, 2, 5)
    ticks = [mantissa * 10.0**decade for decade in decades for mantissa in mantissas]
    shown = [tick for tick in ticks if low_ns <= tick <= high_ns]
    return {
        "type": "log",
        "range": [math.log10(low_ns), math.log10(high_ns)],
        "tickmode": "array",
        "tickvals": shown,
        "ticktext": [tick_text(tick) for tick in shown],
    }


def tick_text(ns: float) -> str:
    """A round time with its unit: 100 µs."""
    unit = time_unit([ns * 1.0000001])
    return f"{float(number(ns / unit.size).replace(',', '')):g} {unit.name}"


def dated_axis(labels: Sequence[str], moments: Sequence[str]) -> Json:
    """One step from each measurement to the next; its label, with its day (`moments`) where there is room for it."""
    every = -(-len(labels) // MOST_TICKS)
    ticks = range(0, len(labels), every)
    dated = len(labels) <= MOST_DATES
    return {
        "range": [-0.5, len(labels) - 0.5],
        "showgrid": False,
        "tickmode": "array",
        "tickvals": list(ticks),
        "ticktext": [
            f"{literal(labels[place])}<br>{_day(moments[place])}" if dated else literal(labels[place])
            for place in ticks
        ],
    }


def _day(moment: str) -> str:
    return f"{datetime.fromisoformat(moment).astimezone(UTC):%b %-d}"
