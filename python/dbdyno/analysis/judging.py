"""From log ratios to verdicts: the numbers that decide, and nothing else.

    judged = judge(run, blocks)       # each pair of the run's metric: one family for Holm

The runner asks this at each look whether it may stop; the findings say the same at the end. So a run that stopped
because all was decided is reported as decided.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Mapping, Sequence

from dbdyno.analysis.blocks import Block, log_ratios
from dbdyno.analysis.documents import Document
from dbdyno.analysis.estimates import exponential
from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.holm import of_all
from dbdyno.analysis.metrics import HIGHER_IS_BETTER, values
from dbdyno.analysis.readings import Reading, reading_of
from dbdyno.analysis.signed_rank import hodges_lehmann
from dbdyno.analysis.verdict import Effect, blocks_needed, verdict

Pair = tuple[str, str]  # arm and baseline


@dataclasses.dataclass(frozen=True, slots=True)
class Judged:
    """One pair on one metric: what was seen and the word for it; `blocks_needed` where that is `undecided`."""

    pair: Pair
    logs: list[float]
    ratio: Estimate
    ratio_90: Estimate
    p_value: float | None
    p_value_holm: float | None
    verdict: str
    blocks_needed: int | None


def pairs(run: Document) -> list[Pair]:
    """What is compared, in file order: every arm with its baseline, or, where the run asks for it, all with all.

    All pairs are those of arms that share a baseline: two loads are not compared with each other.
    A null arm is not among them: it is known to be its baseline.
    """
    present = {arm["arm"] for arm in run["arms"]}
    real = [arm for arm in run["arms"] if not arm.get("null")]
    if run.get("all_pairs"):
        group = {arm["arm"]: arm["baseline"] or arm["arm"] for arm in real}
        return [(other, one) for one, other in itertools.combinations(group, 2) if group[one] == group[other]]
    return [(arm["arm"], arm["baseline"]) for arm in real if arm["baseline"] in present]


def figures(run: Document, blocks: Mapping[int, Block], metric: str) -> dict[str, list[float]]:
    """Arm name to its figure in each block, in the order of blocks."""
    return {arm["arm"]: values(metric, arm, [block[arm["arm"]] for block in blocks.values()]) for arm in run["arms"]}


def judge(run: Document, blocks: Mapping[int, Block]) -> list[Judged]:
    """The run's metric, pair by pair; `blocks` are the counted ones, at least one."""
    found = figures(run, blocks, run["metric"])
    logs = {pair: log_ratios(found[pair[0]], found[pair[1]]) for pair in pairs(run)}
    reading = reading_of(run, len(blocks))
    return judge_logs(logs, reading, run["margin"], higher_is_better=HIGHER_IS_BETTER[run["metric"]])


def judge_logs(
    logs: Mapping[Pair, Sequence[float]], reading: Reading, margin: float, *, higher_is_better: bool
) -> list[Judged]:
    """A family of pairs from their log ratios."""
    p_values = [reading.p_value(each) for each in logs.values()]
    return [
        _judged(pair, list(logs[pair]), p, p_holm, reading, margin, len(logs), higher_is_better)
        for pair, p, p_holm in zip(logs, p_values, of_all(p_values), strict=True)
    ]


def _judged(
    pair: Pair,
    logs: list[float],
    p: float | None,
    p_holm: float | None,
    reading: Reading,
    margin: float,
    comparisons: int,
    higher_is_better: bool,
) -> Judged:
    ratio, ratio_90 = ratio_of(logs, reading, 0.95), ratio_of(logs, reading, 0.90)
    effect = Effect.of(len(logs), ratio, ratio_90, p_holm, margin)
    word = verdict(effect, margin, higher_is_better)
    needed = blocks_needed(effect, margin, comparisons) if word == "undecided" else None
    return Judged(pair, logs, ratio, ratio_90, p, p_holm, word, needed)


def ratio_of(logs: Sequence[float], reading: Reading, confidence: float) -> Estimate:
    """The pseudo-median ratio and the interval of this reading."""
    low, high = reading.interval(logs, confidence) or (None, None)
    return exponential(Estimate(hodges_lehmann(logs), low, high))


def block_ratios(judged: Judged) -> list[float]:
    """The ratio of each block."""
    return [math.exp(log) for log in judged.logs]
