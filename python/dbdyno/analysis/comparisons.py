"""Each arm against its baseline on the run's metric: what was judged, and why the two differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dbdyno.analysis.blocks import Block
from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import WITHHOLDING, Arm, Comparison, Reason
from dbdyno.analysis.judging import Judged, Pair, block_ratios
from dbdyno.analysis.reasons import Side, why
from dbdyno.analysis.resampling import Resampling
from dbdyno.analysis.stack_difference import stack_difference


def compare(
    run: Document,
    blocks: Mapping[int, Block],
    judged: Sequence[Judged],
    arms: Mapping[str, Arm],
    limited_by: Mapping[Pair, list[str]],
) -> list[Comparison]:
    """All comparisons of the run's metric.

    Args:
        run: the run document.
        blocks: the counted blocks, at least one.
        judged: each pair's numbers.
        arms: the findings of each arm.
        limited_by: for each pair the codes of the warnings that limit its verdict.
    """
    reasons = _reasons(run, blocks, arms, [each.pair for each in judged])
    return [_comparison(run, each, reasons[each.pair], arms, limited_by[each.pair]) for each in judged]


def _comparison(
    run: Document, judged: Judged, reasons: list[Reason], arms: Mapping[str, Arm], limited_by: list[str]
) -> Comparison:
    arm, baseline = judged.pair
    earned = WITHHOLDING.isdisjoint(limited_by)
    return Comparison(
        arm=arm,
        baseline=baseline,
        metric=run["metric"],
        ratio=judged.ratio,
        ratio_90=judged.ratio_90,
        p_value=judged.p_value,
        p_value_holm=judged.p_value_holm,
        verdict=judged.verdict if earned else "undecided",
        blocks_needed=judged.blocks_needed if earned else None,
        block_ratios=block_ratios(judged),
        why=reasons,
        limited_by=limited_by,
        stacks=stack_difference(arms[arm], arms[baseline]),
    )


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
