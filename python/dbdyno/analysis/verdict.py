"""From an effect and its intervals to one word, and to how many blocks a missing word would take.

    better, worse   significant after Holm, and at least the margin
    small           significant after Holm, but less than the margin
    same            not significant, and the 90 % interval lies inside the margin:
                    two one-sided tests at 5 % (Schuirmann 1987) say that no difference that matters is there
    undecided       anything else, and always with fewer than 6 blocks

The margin is symmetric in ratios: 3 % means between 1/1.03 and 1.03, so that swapping arm and baseline
swaps better and worse and changes nothing else.
"""

from __future__ import annotations

import dataclasses
import math
from statistics import NormalDist

from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.holm import SIGNIFICANCE, minimum_blocks

# A forecast of more blocks than this is noise, not advice: it stands on the width of an interval.
MOST_BLOCKS_ADVISED = 1000


@dataclasses.dataclass(frozen=True, slots=True)
class Effect:
    """The effect of one arm, in logs of the ratio arm / baseline; a half-width is None with too few blocks."""

    blocks: int
    log_ratio: float
    half_width_95: float | None
    inside_margin_90: bool
    half_width_90: float | None
    p_value_holm: float | None

    @staticmethod
    def of(blocks: int, ratio_95: Estimate, ratio_90: Estimate, p_value_holm: float | None, margin: float) -> Effect:
        """What a verdict needs of a ratio and its two intervals."""
        return Effect(
            blocks=blocks,
            log_ratio=math.log(ratio_95.estimate),
            half_width_95=_log_half_width(ratio_95),
            half_width_90=_log_half_width(ratio_90),
            inside_margin_90=inside_margin(ratio_90, margin),
            p_value_holm=p_value_holm,
        )


def _log_half_width(interval: Estimate) -> float | None:
    if interval.low is None or interval.high is None:
        return None
    return math.log(interval.high / interval.low) / 2


def inside_margin(interval: Estimate, margin: float) -> bool:
    """Whether an interval leaves no room for a difference that matters."""
    if interval.low is None or interval.high is None:
        return False
    return 1 / (1 + margin) < interval.low and interval.high < 1 + margin


def verdict(effect: Effect, margin: float, higher_is_better: bool) -> str:
    """`better`, `worse`, `small`, `same` or `undecided`."""
    if effect.p_value_holm is None:
        return "undecided"
    if effect.p_value_holm < SIGNIFICANCE:
        if abs(effect.log_ratio) < math.log1p(margin):
            return "small"
        return "better" if (effect.log_ratio > 0) == higher_is_better else "worse"
    return "same" if effect.inside_margin_90 else "undecided"


def blocks_needed(effect: Effect, margin: float, comparisons: int) -> int | None:
    """About how many blocks in all would decide, if effect and noise stay as they look now.

    An interval narrows with the square root of the blocks.
    It decides when it is narrower than the effect (with Holm's stricter level for the hardest case),
    or narrower than what is left of the margin; the sooner of the two counts.
    None when the answer would be nonsense: noise so great, or a target so small, that it passes 1000.
    """
    fewest = max(effect.blocks + 1, minimum_blocks(comparisons))
    if effect.half_width_95 is None or effect.half_width_90 is None:
        return fewest
    stricter = _z(SIGNIFICANCE / comparisons) / _z(SIGNIFICANCE)
    different = _blocks(effect.blocks, effect.half_width_95 * stricter, abs(effect.log_ratio))
    same = _blocks(effect.blocks, effect.half_width_90, math.log1p(margin) - abs(effect.log_ratio))
    needed = max(fewest, min(different, same))
    return needed if needed <= MOST_BLOCKS_ADVISED else None


def _blocks(blocks: int, half_width: float, target: float) -> int:
    if target <= 0 or half_width / target > MOST_BLOCKS_ADVISED:
        return MOST_BLOCKS_ADVISED + 1
    return math.ceil(blocks * (half_width / target) ** 2)


def _z(two_sided_level: float) -> float:
    return NormalDist().inv_cdf(1.0 - two_sided_level / 2.0)
