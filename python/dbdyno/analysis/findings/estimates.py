"""A figure and its interval, and what is made of such figures."""

from __future__ import annotations

import dataclasses
import math


@dataclasses.dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its 95 % interval; low and high are None with fewer than 6 blocks."""

    estimate: float
    low: float | None
    high: float | None


def finite(value: float) -> float:
    """`value`, asserted to be a number that JSON can hold."""
    if not math.isfinite(value):
        raise ValueError(f"not a finite figure: {value}")
    return value


@dataclasses.dataclass(frozen=True, slots=True)
class Times:
    """One of the clocks: mean and percentiles over units, estimated over trials."""

    mean: Estimate
    p50: Estimate
    p95: Estimate
    p99: Estimate


@dataclasses.dataclass(frozen=True, slots=True)
class Spread:
    """Mean, 95th percentile and maximum of what was sampled."""

    mean: float
    p95: float
    max: float
