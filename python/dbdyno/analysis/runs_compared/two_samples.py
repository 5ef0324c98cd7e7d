"""Families of two-sample comparisons on logs: ratios, exact p values, Holm's correction, verdicts.

The samples are independent: nothing pairs a trial of one run with a trial of another, so there is one rank-sum test
for each comparison, and no block to cancel what differed between the two days.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from dbdyno.analysis.estimates import exponential
from dbdyno.analysis.findings import WITHHOLDING, Estimate
from dbdyno.analysis.holm import holm
from dbdyno.analysis.rank_sum import interval, p_value, shift
from dbdyno.analysis.verdict import Effect, verdict


@dataclasses.dataclass(frozen=True, slots=True)
class Samples:
    """The logs of one figure in two runs, and the codes that limit what may be said of them."""

    first: Sequence[float]
    second: Sequence[float]
    limited_by: list[str]


@dataclasses.dataclass(frozen=True, slots=True)
class Judged:
    """The ratio second / first and what is concluded from it."""

    ratio: Estimate
    ratio_90: Estimate
    p_value: float | None
    p_value_holm: float | None
    verdict: str


def judge(family: Sequence[Samples], margin: float, *, higher_is_better: bool) -> list[Judged]:
    """A verdict on each of one family, corrected for their number.

    Args:
        family: all comparisons of one kind.
        margin: a smaller difference does not matter.
        higher_is_better: whether a ratio above 1 is good.
    """
    p_values = [p_value(samples.first, samples.second) for samples in family]
    known = [p for p in p_values if p is not None]
    adjusted = dict(zip([place for place, p in enumerate(p_values) if p is not None], holm(known), strict=True))
    return [
        _judged(samples, p, adjusted.get(place), margin, higher_is_better=higher_is_better)
        for place, (samples, p) in enumerate(zip(family, p_values, strict=True))
    ]


def _judged(
    samples: Samples, p: float | None, p_holm: float | None, margin: float, *, higher_is_better: bool
) -> Judged:
    ratio_95, ratio_90 = _ratio(samples, 0.95), _ratio(samples, 0.90)
    effect = Effect.of(min(len(samples.first), len(samples.second)), ratio_95, ratio_90, p_holm, margin)
    earned = WITHHOLDING.isdisjoint(samples.limited_by)
    word = verdict(effect, margin, higher_is_better) if earned else "undecided"
    return Judged(ratio_95, ratio_90, p, p_holm, word)


def _ratio(samples: Samples, confidence: float) -> Estimate:
    low, high = interval(samples.first, samples.second, confidence) or (None, None)
    return exponential(Estimate(shift(samples.first, samples.second), low, high))
