"""Identical arms on a drifting, noisy machine: how often each way of judging cries wolf.

Noise of log speeds: autocorrelated, with a drift across the run and outliers, as shared machines have it.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dbdyno.analysis.holm import holm
from dbdyno.analysis.signed_rank import interval, p_value

ARMS, BLOCKS, RUNS = 4, 12, 1500


def machine_noise(random: np.random.Generator) -> np.ndarray:
    """The log slowness of each trial of one run, in the order of time."""
    count = ARMS * BLOCKS
    shocks = random.normal(0.0, 0.04, count)
    slowness = np.zeros(count)
    for place in range(1, count):
        slowness[place] = 0.9 * slowness[place - 1] + shocks[place]
    outliers = np.where(random.random(count) < 0.05, random.exponential(0.4, count), 0.0)
    return slowness + np.linspace(0.0, random.uniform(-0.2, 0.2), count) + outliers


def blocked(random: np.random.Generator) -> np.ndarray:
    """Arms in random order within each block: one row a block, one column an arm."""
    noise = machine_noise(random).reshape(BLOCKS, ARMS)
    return random.permuted(noise, axis=1)


def test_randomised_blocks_keep_the_promise() -> None:
    """At most 5 % per family of three comparisons, and the 95 % interval holds the truth.

    6.5 % of 1500 is 2.7 standard errors above 5 %.
    """
    random = np.random.default_rng(20261120)
    alarms = misses = 0
    for _ in range(RUNS):
        speeds = blocked(random)
        log_ratios = [(speeds[:, arm] - speeds[:, 0]).tolist() for arm in range(1, ARMS)]
        alarms += min(holm([p_value(pair) or 0.0 for pair in log_ratios])) < 0.05
        low, high = interval(log_ratios[0]) or (0.0, 0.0)
        misses += not low <= 0.0 <= high

    assert alarms / RUNS < 0.065
    assert misses / RUNS < 0.065


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_usual_layout_breaks_it() -> None:
    """All of A, then all of B, then Welch's t-test: a noise on which this passed would prove nothing above."""
    random = np.random.default_rng(20261120)
    alarms = 0
    for _ in range(RUNS):
        speeds = machine_noise(random)
        alarms += stats.ttest_ind(speeds[:BLOCKS], speeds[BLOCKS : 2 * BLOCKS], equal_var=False).pvalue < 0.05

    assert alarms / RUNS > 0.30
