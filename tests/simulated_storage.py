"""What a storage device might have done: response times with planted modes, series of throughput with memory.

heat = simulated_storage.heat(random, response_times_ns, steps=100)     # rows [step, bin, count]
series = 1000 * (1 + 0.08 * simulated_storage.ar1(random, 600, 0.6))
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dbdyno.analysis.calibration.log_bins import bins_of

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def ar1(random: np.random.Generator, shape: int | tuple[int, int], correlation: float) -> Floats:
    """Stationary numbers of mean 0 and variance 1, in the order of time along the last axis."""
    numbers = random.normal(0.0, 1.0, shape)
    for step in range(1, numbers.shape[-1]):
        numbers[..., step] = correlation * numbers[..., step - 1] + np.sqrt(1 - correlation**2) * numbers[..., step]
    return numbers


def lognormal(random: np.random.Generator, median_ns: float, sigma: float, ios: int) -> Floats:
    """Response times around a median; sigma is of the natural log."""
    return median_ns * np.exp(random.normal(0.0, sigma, ios))


def slow_mode(
    random: np.random.Generator, ios: int, share: float, slow_ns: float = 2e6, fast_ns: float = 120e3
) -> Floats:
    """Two lognormal modes of sigma 0.2, each I/O slow by itself with a chance of `share`."""
    median = np.where(random.random(ios) < share, slow_ns, fast_ns)
    return median * np.exp(random.normal(0.0, 0.2, ios))


def heat(random: np.random.Generator, response_times_ns: Floats, steps: int = 100) -> Integers:
    """The I/Os in their order, spread over steps, as rows [step, bin, count]."""
    step = np.sort(random.integers(steps, size=len(response_times_ns)))
    places, counts = np.unique(step * 1000 + bins_of(response_times_ns), return_counts=True)
    return np.column_stack([*np.divmod(places, 1000), counts])


def one_mode(random: np.random.Generator, kind: str, ios: int) -> Floats:
    """Response times that have one mode, with tails that make them look as if they had more."""
    core = lognormal(random, 120e3, 0.2, ios)
    match kind:
        case "lognormal 0.2":
            return core
        case "lognormal 0.5":
            return lognormal(random, 120e3, 0.5, ios)
        case "lognormal 1.0":
            return lognormal(random, 120e3, 1.0, ios)
        case "exponential tail":
            return 100e3 + random.exponential(100e3, ios)
        case "exponential tail of some":
            return core + np.where(random.random(ios) < 0.05, random.exponential(500e3, ios), 0.0)
        case "pareto tail":
            return 100e3 * (1 + random.pareto(1.5, ios))
        case "outliers":
            return np.where(random.random(ios) < 0.001, core * 10 ** random.uniform(0.0, 2.0, ios), core)
        case "outliers far out":
            return np.where(random.random(ios) < 0.001, core * 10 ** random.uniform(1.0, 3.0, ios), core)
        case "one stall":
            stalled = core.copy()
            first, caught = int(random.integers(ios - ios // 200)), ios // 200
            stalled[first : first + caught] = lognormal(random, 300e6, 0.1, caught)
            return stalled
    raise ValueError(kind)


KINDS_OF_ONE_MODE = (
    "lognormal 0.2",
    "lognormal 0.5",
    "lognormal 1.0",
    "exponential tail",
    "exponential tail of some",
    "pareto tail",
    "outliers",
    "outliers far out",
    "one stall",
)
