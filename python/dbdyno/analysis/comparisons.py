"""Each arm against its baseline on one metric: the effect, its p value, the verdict and the why."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

from dbdyno.analysis.blocks import Block, log_ratios
from dbdyno.analysis.documents import Document
from dbdyno.analysis.estimates import ratio
from dbdyno.analysis.findings import WITHHOLDING, Arm, Comparison, Estimate, Reason
from dbdyno.analysis.holm import holm
from dbdyno.analysis.metrics import HIGHER_IS_BETTER, values
from dbdyno.analysis.reasons import Side, why
from dbdyno.analysis.resampling import Resampling
from dbdyno.analysis.signed_rank import p_value
from dbdyno.analysis.stack_difference import stack_difference
from dbdyno.analysis.verdict import Effect, blocks_needed, verdict

Pair = tuple[str, str]  # arm and baseline


def pairs(run: Document) -> list[Pair]:
    """Every arm that has a baseline in this run, with it, in file order."""
    present = {arm["arm"] for arm in run["arms"]}
    return [(arm["arm"], arm["baseline"]) for arm in run["arms"] if arm["baseline"] in present]


def compare(
    run: Document, blocks: Mapping[int, Block], arms: Mapping[str, Arm], limited_by: Mapping[Pair, list[str]]
) -> list[Comparison]:
    """All comparisons of the run's metric: one family for Holm.

    Args:
        run: the run document.
        blocks: the counted blocks, at least one.
        arms: the findings of each arm.
        limited_by: for each pair the codes of the warnings that limit its verdict.
    """
    metric = run["metric"]
    trials = {arm["arm"]: [block[arm["arm"]] for block in blocks.values()] for arm in run["arms"]}
    figures = {arm["arm"]: values(metric, arm, trials[arm["arm"]]) for arm in run["arms"]}
    logs = {pair: log_ratios(figures[pair[0]], figures[pair[1]]) for pair in limited_by}
    p_values = {pair: p_value(of_blocks) for pair, of_blocks in logs.items()}
    adjusted = _adjusted(p_values)
    reasons = _reasons(run, blocks, arms, list(logs))
    judge = _Judge(metric, run["margin"], len(logs))
    compared = [
        judge.comparison(pair, logs[pair], p_values[pair], adjusted[pair], reasons[pair], limited_by[pair])
        for pair in logs
    ]
    return [dataclasses.replace(one, stacks=stack_difference(arms[one.arm], arms[one.baseline])) for one in compared]


def _adjusted(p_values: Mapping[Pair, float | None]) -> dict[Pair, float | None]:
    """Holm's p values; all are None together, because all pairs have the same blocks."""
    known = [p for p in p_values.values() if p is not None]
    if len(known) < len(p_values):
        return dict.fromkeys(p_values)
    return dict(zip(p_values, holm(known), strict=True))


def _reasons(
    run: Document, blocks: Mapping[int, Block], arms: Mapping[str, Arm], compared: Sequence[Pair]
) -> dict[Pair, list[Reason]]:
    """Profiles are compared per unit, or per row where the metric is."""
    rows = {arm["arm"]: arm["rows_per_unit"] if run["metric"] == "rows_per_s" else 1 for arm in run["arms"]}
    resampling = Resampling.of(len(blocks), run["seed"])
    sides = {
        arm: Side.of(arms[arm].profile_ns, [block[arm] for block in blocks.values()], resampling, rows[arm])
        for arm in dict.fromkeys(arm for pair in compared for arm in pair)
    }
    return {(arm, baseline): why(sides[arm], sides[baseline], resampling) for arm, baseline in compared}


@dataclasses.dataclass(frozen=True, slots=True)
class _Judge:
    """What all comparisons of one family share."""

    metric: str
    margin: float
    comparisons: int

    def comparison(
        self,
        pair: Pair,
        logs: list[float],
        p: float | None,
        p_holm: float | None,
        reasons: list[Reason],
        limited_by: list[str],
    ) -> Comparison:
        ratio_95, ratio_90 = ratio(logs), ratio(logs, confidence=0.90)
        effect = effect_of(logs, self.margin, p_holm)
        earned = WITHHOLDING.isdisjoint(limited_by)
        word = verdict(effect, self.margin, HIGHER_IS_BETTER[self.metric]) if earned else "undecided"
        wanted = word == "undecided" and earned
        return Comparison(
            arm=pair[0],
            baseline=pair[1],
            metric=self.metric,
            ratio=ratio_95,
            ratio_90=ratio_90,
            p_value=p,
            p_value_holm=p_holm,
            verdict=word,
            blocks_needed=blocks_needed(effect, self.margin, self.comparisons) if wanted else None,
            block_ratios=[math.exp(log) for log in logs],
            why=reasons,
            limited_by=limited_by,
        )


def effect_of(logs: Sequence[float], margin: float, p_holm: float | None) -> Effect:
    """What a verdict needs of the log ratio of each block."""
    ratio_95, ratio_90 = ratio(logs), ratio(logs, confidence=0.90)
    return Effect(
        blocks=len(logs),
        log_ratio=math.log(ratio_95.estimate),
        half_width_95=_log_half_width(ratio_95),
        half_width_90=_log_half_width(ratio_90),
        inside_margin_90=_inside_margin(ratio_90, margin),
        p_value_holm=p_holm,
    )


def _log_half_width(interval: Estimate) -> float | None:
    if interval.low is None or interval.high is None:
        return None
    return math.log(interval.high / interval.low) / 2


def _inside_margin(interval: Estimate, margin: float) -> bool:
    if interval.low is None or interval.high is None:
        return False
    return 1 / (1 + margin) < interval.low and interval.high < 1 + margin
