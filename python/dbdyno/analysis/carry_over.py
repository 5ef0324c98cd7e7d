"""Whether an arm leaves something behind for the trial after it: a dirty cache, a bloated table, a busy disk.

Trials are grouped by the arm that ran right before them, across the borders of blocks and with failed trials, because
these leave things behind, too. The order within blocks was drawn at random, so if nothing is left behind the groups
differ by chance only.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from dbdyno.analysis.blocks import Block
from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import After, CarryOver, finite
from dbdyno.analysis.limits import DISTURBANCE_LEVEL
from dbdyno.analysis.residuals import (
    Floats,
    aligned_rank_p_value,
    doubly_centred,
    least_squares,
    log_figures,
    without_arm_and_block,
)

# With fewer after an arm nothing can be said of it.
LEAST_TRIALS = 5
UNKNOWN = -1
# What a median deviation is of a standard deviation, for normal figures.
MAD_TO_SIGMA = 1.4826


def carry_over(run: Document, blocks: Mapping[int, Block], trials: Sequence[Document]) -> CarryOver | None:
    """What trials after each arm show; None with one arm, or where fewer than two arms have enough trials after them.

    Args:
        run: the run document.
        blocks: the counted blocks.
        trials: all trials, counted or not, in any order.
    """
    arms = [arm["arm"] for arm in run["arms"]]
    if len(arms) < 2 or not blocks:
        return None
    place = {arm: at for at, arm in enumerate(arms)}
    before = _arms_before(trials)
    previous = [[place.get(before.get(_key(block[arm])), UNKNOWN) for arm in arms] for block in blocks.values()]
    return judged(arms, log_figures(run, blocks), np.asarray(previous, dtype=np.int64))


def judged(arms: Sequence[str], grid: Floats, previous: npt.NDArray[np.int64]) -> CarryOver | None:
    """The same from bare figures: logs by block and arm, and the place of the arm before each (-1: there was none)."""
    enough = [at for at in range(len(arms)) if (previous == at).sum() >= LEAST_TRIALS]
    if len(enough) < 2:
        return None
    came_after = np.stack([previous == at for at in enough]).astype(np.float64)
    left = without_arm_and_block(grid)
    p = aligned_rank_p_value(left, came_after)
    ratios = np.exp(_effects(left, came_after))
    after = [
        After(arms[at], int(came.sum()), finite(float(ratio)))
        for at, came, ratio in zip(enough, came_after, ratios, strict=True)
    ]
    return CarryOver(p, p < DISTURBANCE_LEVEL, sorted(after, key=_nearness))


def _nearness(one: After) -> float:
    """The greatest effect first. Of two arms it is one effect with two signs, whose last bits depend on the processor:
    without rounding they would decide which arm is named."""
    return -round(abs(math.log(one.ratio)), 12)


def _effects(left: Floats, came_after: Floats) -> Floats:
    """For each arm the difference, in logs, of trials after it from those after the others, all fitted at once.

    Least squares, because trials after an arm are never trials of that arm within a block, and medians of groups
    would share the effect out; far values are drawn in to three median deviations, so that none of them decides.
    """
    deviation = float(np.median(np.abs(left))) * MAD_TO_SIGMA
    drawn_in = doubly_centred(np.clip(left, -3 * deviation, 3 * deviation))
    columns = doubly_centred(came_after).reshape(len(came_after), -1).T
    effects, _ = least_squares(columns, drawn_in.ravel())
    others: Floats = (effects.sum() - effects) / (len(effects) - 1)
    arms = left.shape[1]  # what is left of a trial is the distance from the others of its block, not from their mean
    scaled: Floats = (effects - others) * (arms - 1) / arms
    return scaled


def _key(trial: Document) -> tuple[int, int]:
    return trial["trial"], trial["attempt"]


def _arms_before(trials: Sequence[Document]) -> dict[tuple[int, int], str]:
    """Trial and attempt to the arm that ran before; the first has none.

    Blocks are repeated behind all first attempts, so attempt and place give the order in time, without a clock.
    """
    in_time = sorted(trials, key=lambda trial: (trial["attempt"], trial["trial"]))
    return {_key(now): then["arm"] for then, now in itertools.pairwise(in_time)}
