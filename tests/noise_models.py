"""Four kinds of machine noise: the log slowness of each trial of a run, in the order of time.

    slowness = MODELS["cloud"](random, runs=1000, trials=120)      # array (runs, trials)

quiet     N(0, 2 %)
cloud     AR(1) 0.6 of sd 3 %, a drift of up to 6 % either way, a sine of 2 %, Student's t with 3 degrees of 2 %,
          3 % outliers of 25 % in the mean
ugly      AR(1) 0.9 of sd 5 %, a drift of up to 10 %, a sine of 3 %, a neighbour who comes and goes and takes 10 % while
          he is there, t of 3 %, 5 % outliers of 40 %
periodic  N(0, 2 %), and 8 % more at every fourth trial

Sizes are those of shared machines (design notes: pgbench varied by 1.4 to 4.7 % on 43,000 virtual machines, worst cases
by 40 %, arXiv 2503.01801).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Slowness = NDArray[np.float64]

# The neighbour stays for 12 trials in the mean; how often he is there decides how hard "ugly" is.
NEIGHBOUR_STAYS_TRIALS = 12
NEIGHBOUR_IS_THERE = 0.25


def quiet(random: np.random.Generator, runs: int, trials: int) -> Slowness:
    """Independent and normal."""
    return random.normal(0.0, 0.02, (runs, trials))


def cloud(random: np.random.Generator, runs: int, trials: int) -> Slowness:
    """A virtual machine among others."""
    return (
        _autoregressive(random, runs, trials, 0.6, 0.03)
        + _drift(random, runs, trials, 0.06)
        + _sine(random, runs, trials, 0.02)
        + _student(random, runs, trials, 0.02)
        + _outliers(random, runs, trials, 0.03, 0.25)
    )


def ugly(random: np.random.Generator, runs: int, trials: int) -> Slowness:
    """A virtual machine that somebody else's batch jobs share."""
    return (
        _autoregressive(random, runs, trials, 0.9, 0.05)
        + _drift(random, runs, trials, 0.10)
        + _sine(random, runs, trials, 0.03)
        + _neighbour(random, runs, trials, 0.10)
        + _student(random, runs, trials, 0.03)
        + _outliers(random, runs, trials, 0.05, 0.40)
    )


def periodic(random: np.random.Generator, runs: int, trials: int) -> Slowness:
    """Something comes by at every fourth trial, whichever: poison for a round robin of four arms."""
    first = random.integers(0, 4, (runs, 1))
    return quiet(random, runs, trials) + 0.08 * ((np.arange(trials) + first) % 4 == 0)


MODELS: dict[str, Callable[[np.random.Generator, int, int], Slowness]] = {
    "quiet": quiet,
    "cloud": cloud,
    "ugly": ugly,
    "periodic": periodic,
}


def _autoregressive(random: np.random.Generator, runs: int, trials: int, memory: float, deviation: float) -> Slowness:
    """Stationary from the first trial on."""
    state = random.normal(0.0, deviation, runs)
    slowness = np.empty((runs, trials))
    for trial in range(trials):
        slowness[:, trial] = state
        state = memory * state + random.normal(0.0, deviation * np.sqrt(1 - memory**2), runs)
    return slowness


def _drift(random: np.random.Generator, runs: int, trials: int, most: float) -> Slowness:
    return random.uniform(-most, most, (runs, 1)) * np.linspace(0.0, 1.0, trials)


def _sine(random: np.random.Generator, runs: int, trials: int, height: float) -> Slowness:
    """One wave in a run, of any phase."""
    phase = random.uniform(0.0, 2 * np.pi, (runs, 1))
    return height * np.sin(2 * np.pi * np.arange(trials) / trials + phase)


def _student(random: np.random.Generator, runs: int, trials: int, deviation: float) -> Slowness:
    return random.standard_t(3, (runs, trials)) * (deviation / np.sqrt(3.0))


def _outliers(random: np.random.Generator, runs: int, trials: int, often: float, mean: float) -> Slowness:
    return np.where(random.random((runs, trials)) < often, random.exponential(mean, (runs, trials)), 0.0)


def _neighbour(random: np.random.Generator, runs: int, trials: int, takes: float) -> Slowness:
    leaves = 1.0 / NEIGHBOUR_STAYS_TRIALS
    comes = leaves * NEIGHBOUR_IS_THERE / (1.0 - NEIGHBOUR_IS_THERE)
    there = random.random(runs) < NEIGHBOUR_IS_THERE
    slowness = np.empty((runs, trials))
    for trial in range(trials):
        slowness[:, trial] = takes * there
        change = random.random(runs)
        there = np.where(there, change >= leaves, change < comes)
    return slowness
