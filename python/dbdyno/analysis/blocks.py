"""Which trials count, and how arms are paired.

A block counts with its first attempt in which every arm is ok: then its trials are neighbours in time.
No trial is left out for its value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from dbdyno.analysis.documents import Document

Block = Mapping[str, Document]  # arm name -> its trial


def usable(trial: Document) -> bool:
    """Whether a trial has figures: it is ok and at least one unit of work succeeded."""
    return bool(trial["status"] == "ok" and trial["outcome"]["units"]["successful"] > 0)


def counted_blocks(run: Document, trials: Sequence[Document]) -> dict[int, Block]:
    """Block number to its trials by arm, for each block that is complete."""
    arms = {arm["arm"] for arm in run["arms"]}
    attempts: dict[tuple[int, int], dict[str, Document]] = {}
    for trial in trials:
        if usable(trial):
            attempts.setdefault((trial["block"], trial["attempt"]), {})[trial["arm"]] = trial
    counted: dict[int, Block] = {}
    for block, attempt in sorted(attempts):
        if block not in counted and attempts[block, attempt].keys() >= arms:
            counted[block] = attempts[block, attempt]
    return counted


def log_ratios(arm_values: Sequence[float], baseline_values: Sequence[float]) -> list[float]:
    """The log of arm / baseline within each block, from the figures of both in the same order of blocks."""
    return [math.log(arm / baseline) for arm, baseline in zip(arm_values, baseline_values, strict=True)]
