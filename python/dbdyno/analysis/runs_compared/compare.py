"""Two runs of one experiment, arm by arm.

    comparison = compare_runs(first, second)

What it can say is that the figures of two runs differ by more than trials within a run do. It cannot say why: a run is
all of A, then all of B, the very layout that randomised blocks replace. The effects within each run are better
protected: a machine that became faster as a whole does not move them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from dbdyno.analysis.blocks import log_ratios
from dbdyno.analysis.estimates import pseudo_median, ratio
from dbdyno.analysis.findings import Warning
from dbdyno.analysis.metrics import HIGHER_IS_BETTER
from dbdyno.analysis.rank_sum import MINIMUM_VALUES, MOST_EXACT, is_exact
from dbdyno.analysis.runs_compared.common_arms import common_arms, definition_differences
from dbdyno.analysis.runs_compared.differences import differences
from dbdyno.analysis.runs_compared.failed_checks import failed_check_warnings, failed_codes
from dbdyno.analysis.runs_compared.findings import (
    FORMAT,
    ArmCompared,
    Difference,
    EffectCompared,
    LeftOut,
    RunsComparison,
)
from dbdyno.analysis.runs_compared.record import (
    Measured,
    Recorded,
    check_distinct,
    check_one_metric,
    measured,
    summary,
)
from dbdyno.analysis.runs_compared.settling import settling
from dbdyno.analysis.runs_compared.two_samples import Samples, judge


def compare_runs(a: Recorded, b: Recorded) -> RunsComparison:
    """B against A.

    Raises:
        DynoError: they have no metric or no arm in common, or one of them has no complete block.
    """
    check_distinct([a, b])
    check_one_metric([a, b])
    first, second = measured(a, "A"), measured(b, "B")
    names, left_out = common_arms(first, second)
    margin = min(float(a.run["margin"]), float(b.run["margin"]))
    found = differences(first, second, names)
    arms = _arms(first, second, names, margin)
    return RunsComparison(
        format=FORMAT,
        experiment=b.run["experiment"],
        metric=a.run["metric"],
        higher_is_better=HIGHER_IS_BETTER[a.run["metric"]],
        margin=margin,
        first=summary(first),
        second=summary(second),
        arms=arms,
        effects=_effects(first, second, names, margin),
        worse=[arm.arm for arm in arms if arm.verdict == "worse"],
        left_out=left_out,
        differences=found,
        settling=settling(first, second, found, names),
        warnings=[*_warnings(first, second, found, left_out), *failed_check_warnings([first, second], names)],
    )


def _arms(first: Measured, second: Measured, names: Sequence[str], margin: float) -> list[ArmCompared]:
    """The primary metric of each common arm: one family for Holm."""
    family = [
        Samples(
            list(map(math.log, first.figures[name])),
            list(map(math.log, second.figures[name])),
            _limits(first, second, [name]),
        )
        for name in names
    ]
    judged = judge(family, margin, higher_is_better=HIGHER_IS_BETTER[first.run["metric"]])
    return [
        ArmCompared(
            arm=name,
            levels=dict(first.arms[name]["levels"]),
            baseline=first.arms[name]["baseline"],
            first=pseudo_median(first.figures[name]),
            second=pseudo_median(second.figures[name]),
            ratio=one.ratio,
            ratio_90=one.ratio_90,
            p_value=one.p_value,
            p_value_holm=one.p_value_holm,
            verdict=one.verdict,
            limited_by=samples.limited_by,
        )
        for name, samples, one in zip(names, family, judged, strict=True)
    ]


def _effects(first: Measured, second: Measured, names: Sequence[str], margin: float) -> list[EffectCompared]:
    """The effects that both runs have, arm against baseline: another family for Holm."""
    pairs = [(name, first.arms[name]["baseline"]) for name in names]
    common = [
        (arm, baseline) for arm, baseline in pairs if baseline in names and second.arms[arm]["baseline"] == baseline
    ]
    logs = [
        [log_ratios(side.figures[arm], side.figures[baseline]) for side in (first, second)] for arm, baseline in common
    ]
    family = [Samples(one, two, _limits(first, second, pair)) for (one, two), pair in zip(logs, common, strict=True)]
    judged = judge(family, margin, higher_is_better=HIGHER_IS_BETTER[first.run["metric"]])
    return [
        EffectCompared(
            arm=arm,
            baseline=baseline,
            first=ratio(samples.first),
            second=ratio(samples.second),
            ratio=one.ratio,
            ratio_90=one.ratio_90,
            p_value=one.p_value,
            p_value_holm=one.p_value_holm,
            verdict=one.verdict,
            limited_by=samples.limited_by,
        )
        for (arm, baseline), samples, one in zip(common, family, judged, strict=True)
    ]


def _limits(first: Measured, second: Measured, arms: Sequence[str]) -> list[str]:
    """The codes that must stand beside a verdict about these arms."""
    codes = [code for side in (first, second) for arm in arms for code in failed_codes(side, arm)]
    changed = any(any(definition_differences(arm, first.arms[arm], second.arms[arm])) for arm in arms)
    return list(dict.fromkeys([*codes, *(["definition"] if changed else [])]))


def _warnings(
    first: Measured, second: Measured, found: Sequence[Difference], left_out: Sequence[LeftOut]
) -> Iterator[Warning]:
    yield Warning(
        "confounded",
        "the day, the machine's state and everything else that differs between two runs stand in the same ratio as "
        "what you changed, and no statistic takes them apart; where a machine drifts, all of one and then all of the "
        "other calls identical systems different in 35 to 71 of 100 comparisons, not in 5; an experiment that "
        "alternates both settles it",
    )
    yield from _experiment_warnings(found, left_out, first, second)
    fewest = min(len(first.blocks), len(second.blocks))
    if fewest < MINIMUM_VALUES:
        yield Warning(
            "few_blocks", f"one of the runs has {fewest} complete blocks: no interval and no verdict with fewer than 6"
        )
    if not is_exact(len(first.blocks), len(second.blocks)):
        yield Warning(
            "approximate", f"p values and intervals by the normal approximation: more than {MOST_EXACT} blocks"
        )
    for side in (first, second):
        if len(side.blocks) < side.run["blocks"]:
            yield Warning(
                "incomplete", f"{side.label} has {len(side.blocks)} complete blocks of {side.run['blocks']}; resume it"
            )
    if second.run["started_at"] < first.run["started_at"]:
        yield Warning("order", "B was started before A; name the earlier run first to read ratios as changes over time")


def _experiment_warnings(
    found: Sequence[Difference], left_out: Sequence[LeftOut], first: Measured, second: Measured
) -> Iterator[Warning]:
    """Two different experiments: what of them differs, and that only what is common was compared."""
    named = [each.what for each in found if each.group == "experiment" and each.what in ("name", "margin")]
    named += ["the definition of arms"] if any(each.group == "arms" for each in found) or left_out else []
    if not named:
        return
    margins = first.run["margin"], second.run["margin"]
    smaller = f"; the smaller margin counts, {min(margins) * 100:g} %" if margins[0] != margins[1] else ""
    yield Warning(
        "experiments_differ",
        f"these are not one experiment: {', '.join(named)} differ{'s' if len(named) == 1 else ''}, and only what is "
        f"common is compared{smaller}; see what differs",
    )
