"""Does a factor matter more under one level of another? The effect here over the effect there, block by block.

With durability and load as factors the effect of a durability is its ratio to its baseline under each load. Within a
block the two ratios are divided; one minus their ratio is what the load changes about the effect. Where it changes
nothing, the two sides of the division may be swapped, so its sign is a fair coin as everywhere else, and the same test
and interval apply. One family for Holm.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from dbdyno.analysis.blocks import Block, log_ratios
from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Interaction
from dbdyno.analysis.holm import SIGNIFICANCE, of_all
from dbdyno.analysis.judging import Pair, figures, ratio_of
from dbdyno.analysis.readings import reading_of


def interactions(run: Document, blocks: Mapping[int, Block], compared: Sequence[Pair]) -> list[Interaction]:
    """Each of these effects under each two levels of one other factor; empty where arms differ in one factor alone."""
    asked = list(_asked(run, compared))
    if not asked:
        return []
    reading = reading_of(run, len(blocks))
    found = figures(run, blocks, run["metric"])
    logs = [
        [
            here - there
            for here, there in zip(
                log_ratios(found[one[0]], found[one[1]]), log_ratios(found[other[0]], found[other[1]]), strict=True
            )
        ]
        for one, other in asked
    ]
    p_values = [reading.p_value(each) for each in logs]
    return [
        Interaction(
            arm=one[0],
            baseline=one[1],
            other_arm=other[0],
            other_baseline=other[1],
            metric=run["metric"],
            ratio=ratio_of(each, reading, 0.95),
            p_value=p,
            p_value_holm=p_holm,
            told=p_holm is not None and p_holm < SIGNIFICANCE,
        )
        for (one, other), each, p, p_holm in zip(asked, logs, p_values, of_all(p_values), strict=True)
    ]


def _asked(run: Document, compared: Sequence[Pair]) -> Iterator[tuple[Pair, Pair]]:
    """Two arms with the same change against their baselines, which differ in one further level."""
    levels = {arm["arm"]: arm["levels"] for arm in run["arms"]}
    effects = {(arm["arm"], arm["baseline"]) for arm in run["arms"]}
    for one, other in itertools.combinations([pair for pair in compared if pair in effects], 2):
        changed, apart = _difference(levels[one[0]], levels[one[1]]), _difference(levels[one[0]], levels[other[0]])
        same_change = changed == _difference(levels[other[0]], levels[other[1]])
        if same_change and len(apart) == 1 and not apart.keys() & changed.keys():
            yield other, one


def _difference(levels: Mapping[str, str], others: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Factor to the two levels in which arms differ."""
    return {factor: (level, others[factor]) for factor, level in levels.items() if others.get(factor) != level}
