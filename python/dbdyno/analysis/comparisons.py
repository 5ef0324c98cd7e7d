"""Each arm against its baseline on one metric: the effect, its p value, the verdict and the why."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from dbdyno.analysis.blocks import Block, log_ratios
from dbdyno.analysis.documents import Document
from dbdyno.analysis.estimates import ratio
from dbdyno.analysis.findings import Arm, Comparison, Estimate
from dbdyno.analysis.holm import holm
from dbdyno.analysis.metrics import HIGHER_IS_BETTER, value
from dbdyno.analysis.profile import why
from dbdyno.analysis.signed_rank import p_value
from dbdyno.analysis.verdict import Effect, blocks_needed, verdict


def compare(
    run: Document,
    blocks: Mapping[int, Block],
    arms: Mapping[str, Arm],
    limited_by: Mapping[tuple[str, str], list[str]],
) -> list[Comparison]:
    """All comparisons of the run's metric: one family for Holm.

    Args:
        run: the run document.
        blocks: the counted blocks, at least one.
        arms: the findings of each arm.
        limited_by: for each (arm, baseline) the codes of the warnings that limit its verdict.
    """
    metric, margin = run["metric"], run["margin"]
    figures = {arm["arm"]: [value(metric, arm, block[arm["arm"]]) for block in blocks.values()] for arm in run["arms"]}
    pairs = list(limited_by)
    logs = [log_ratios(figures[arm], figures[baseline]) for arm, baseline in pairs]
    p_values = [p_value(pair) for pair in logs]
    adjusted = _adjusted(p_values)
    return [
        _comparison(metric, margin, arms[arm], arms[baseline], log, p, p_holm, limited_by[arm, baseline], len(pairs))
        for (arm, baseline), log, p, p_holm in zip(pairs, logs, p_values, adjusted, strict=True)
    ]


def pairs(run: Document) -> list[tuple[str, str]]:
    """Every arm that has a baseline in this run, with it, in file order."""
    present = {arm["arm"] for arm in run["arms"]}
    return [(arm["arm"], arm["baseline"]) for arm in run["arms"] if arm["baseline"] in present]


def _adjusted(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's p values; all are None together, because all comparisons have the same blocks."""
    known = [p for p in p_values if p is not None]
    return list(holm(known)) if len(known) == len(p_values) else [None] * len(p_values)


def _comparison(
    metric: str, margin: float, arm: Arm, baseline: Arm, log: list[float],
    p: float | None, p_holm: float | None, limited_by: list[str], family: int,
) -> Comparison:  # fmt: skip
    ratio_95, ratio_90 = ratio(log), ratio(log, confidence=0.90)
    effect = Effect(
        blocks=len(log),
        log_ratio=math.log(ratio_95.estimate),
        half_width_95=_log_half_width(ratio_95),
        half_width_90=_log_half_width(ratio_90),
        inside_margin_90=_inside_margin(ratio_90, margin),
        p_value_holm=p_holm,
    )
    earned = "deviation" not in limited_by
    word = verdict(effect, margin, HIGHER_IS_BETTER[metric]) if earned else "undecided"
    return Comparison(
        arm=arm.arm,
        baseline=baseline.arm,
        metric=metric,
        ratio=ratio_95,
        ratio_90=ratio_90,
        p_value=p,
        p_value_holm=p_holm,
        verdict=word,
        blocks_needed=blocks_needed(effect, margin, family) if word == "undecided" and earned else None,
        block_ratios=[math.exp(value) for value in log],
        why=why(arm.profile_ns, baseline.profile_ns),
        limited_by=limited_by,
    )


def _log_half_width(interval: Estimate) -> float | None:
    if interval.low is None or interval.high is None:
        return None
    return math.log(interval.high / interval.low) / 2


def _inside_margin(interval: Estimate, margin: float) -> bool:
    if interval.low is None or interval.high is None:
        return False
    return 1 / (1 + margin) < interval.low and interval.high < 1 + margin
