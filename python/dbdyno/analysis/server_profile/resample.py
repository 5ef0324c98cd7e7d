"""The block bootstrap: how the intervals of a profile are made.

What is drawn again is time: steps, in circular blocks of neighbours (Politis and Romano 1992), because what happens in
one second goes on in the next; a block is n^(1/3) of n steps long. From each draw times are added up and shares asleep
taken anew, so that both kinds of chance are in an interval: what the load did, and what snapshots met.
A profile of fewer than `FEWEST_STEPS` has too few to draw from; there single processes in single steps are drawn, which
leaves out whatever all processes have in common.

A percentile interval of n draws is too narrow by sqrt((n - 1) / n) and by z against t; the percentiles are widened for
both (Hesterberg 2015, "What teachers should know about the bootstrap", section 5.2).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr, stdtrit

from dbdyno.analysis.findings import Estimate, finite
from dbdyno.analysis.server_profile.findings import Bootstrap
from dbdyno.analysis.server_profile.snapshots import Floats, Ints, Snapshots

CONFIDENCE = 0.95
RESAMPLES = 400
FEWEST_STEPS = 12
FEWEST_UNITS = 6
# Longer profiles are drawn in more than a step at a time: sixty units carry an interval, more only cost time.
MOST_UNITS = 60


@dataclasses.dataclass(frozen=True, slots=True)
class Draws:
    """What was drawn: `weights[draw, unit]` is how often; the first draw is the profile itself, once everything."""

    of_row: Ints
    weights: Floats
    described: Bootstrap

    @property
    def tail(self) -> float | None:
        """The probability beyond each end of an interval; None where there is none."""
        independent = self.described.units / max(self.described.block, 1)
        if self.described.unit == "none":
            return None
        wider = math.sqrt(independent / (independent - 1))
        return float(ndtr(wider * stdtrit(independent - 1, (1 - CONFIDENCE) / 2)))

    def estimate(self, values: Floats) -> Estimate:
        """The figure of the profile itself with the interval that the draws give it."""
        low, high = self.interval(values)
        return Estimate(finite(float(values[0])), low, high)

    def interval(self, values: Floats) -> tuple[float | None, float | None]:
        """The two ends; None without draws. The figure itself is never outside."""
        if self.tail is None or len(values) < 2:
            return None, None
        low, high = np.quantile(values[1:], [self.tail, 1 - self.tail])
        return finite(float(min(low, values[0]))), finite(float(max(high, values[0])))

    def rank_groups(self, values: Sequence[Floats]) -> list[int]:
        """A number for each thing, the greatest first: 1 for it and all not told apart from it, 2 for the next, and on.

        Paired: two are told apart where the interval of their *difference*, draw by draw, does not hold 0. What varies
        with both at once (more load in some steps) cancels there, as it does not by looking at two intervals.
        Without draws nothing is told apart.
        """
        groups: list[int] = []
        leader = 0
        for thing, value in enumerate(values):
            low, _ = self.interval(values[leader] - value)
            told_apart = low is not None and low > 0
            leader = thing if told_apart else leader
            groups.append((groups[-1] if groups else 1) + told_apart)
        return groups


def draws(rows: Snapshots, seed: int = 1) -> Draws:
    """What is drawn of a profile; the same rows give the same draws."""
    if rows.steps >= FEWEST_STEPS:
        return _of_steps(rows, seed)
    pairs, of_row = np.unique(rows.step * max(len(rows.processes), 1) + rows.process, return_inverse=True)
    if len(pairs) < FEWEST_UNITS:
        return Draws(of_row, np.ones((1, len(pairs))), Bootstrap("none", len(pairs), 1, 0))
    weights = _circular_blocks(len(pairs), 1, seed)
    return Draws(of_row, weights, Bootstrap("processes in steps", len(pairs), 1, RESAMPLES))


def _of_steps(rows: Snapshots, seed: int) -> Draws:
    together = math.ceil(rows.steps / MOST_UNITS)
    units = math.ceil(rows.steps / together)
    block = max(round(units ** (1 / 3)), 1)
    weights = _circular_blocks(units, block, seed)
    return Draws(rows.step // together, weights, Bootstrap("steps", units, block, RESAMPLES))


def _circular_blocks(units: int, block: int, seed: int) -> Floats:
    """How often each unit was drawn: blocks that start anywhere and run on from the end to the beginning."""
    random = np.random.default_rng(seed)
    blocks = math.ceil(units / block)
    starts = random.integers(0, units, size=(RESAMPLES, blocks))
    drawn = ((starts[:, :, None] + np.arange(block)) % units).reshape(RESAMPLES, -1)[:, :units]
    weights = np.zeros((1 + RESAMPLES, units))
    weights[0] = 1
    np.add.at(weights, (np.arange(1, 1 + RESAMPLES)[:, None], drawn), 1)
    return weights
