"""The verdicts of two runs in sentences: arm by arm, what changed from A to B, and whether its effect did."""

from __future__ import annotations

from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.runs_compared.findings import ArmCompared, EffectCompared, RunsComparison
from dbdyno.report import numbers
from dbdyno.report.naming import ArmNames
from dbdyno.report.sentences import METRIC_NAMES, Sentence, Span, plain


def run_sentences(comparison: RunsComparison) -> list[tuple[str | None, Sentence]]:
    """A sentence for each arm, with the group that it is about."""
    names = ArmNames(comparison)
    effects = {effect.arm: effect for effect in comparison.effects}
    return [
        (
            names.group(arm.arm),
            [
                *_arm(arm, names, comparison),
                *_effect(effects.get(arm.arm), names, comparison),
                *_caution(arm),
            ],
        )
        for arm in comparison.arms
    ]


def gate_words(comparison: RunsComparison) -> str:
    """One line: what tripped the gate, or that nothing did."""
    tripped = [arm for arm in comparison.arms if arm.arm in comparison.worse]
    if tripped:
        said = "; ".join(f"{arm.arm} {plain(_figures(arm, comparison))}" for arm in tripped)
        return f"gate: B is worse than A: {said}"
    withheld = sum(arm.withheld for arm in comparison.arms)
    unjudged = f"; {numbers.count(withheld, 'arm')} without a verdict" if withheld else ""
    return f"gate: holds: no verdict of {numbers.count(len(comparison.arms), 'arm')} is worse{unjudged}"


def _arm(arm: ArmCompared, names: ArmNames, comparison: RunsComparison) -> Sentence:
    group = names.group(arm.arm)
    lead = [Span(f"{group}: ")] if group else []
    name = Span(names.short(arm.arm), "arm")
    if arm.withheld:
        words = ": in one of the runs it did not do what its name says (see the warnings)."
        return [*lead, Span("no verdict", "open"), Span(" on "), name, Span(words)]
    figures = [*_figures(arm, comparison), Span(".")]
    margin = numbers.percent(comparison.margin)
    if arm.verdict in ("better", "worse"):
        word = Span(arm.verdict, "better" if arm.verdict == "better" else "worse")
        return [*lead, name, Span(" is "), word, Span(" in B: "), *figures]
    if arm.verdict == "small":
        gain = (arm.ratio.estimate > 1) == comparison.higher_is_better
        words = f" is a little {'better' if gain else 'worse'} in B, but by less than the margin of {margin}: "
        return [*lead, name, Span(words), *figures]
    if arm.verdict == "same":
        return [*lead, name, Span(f" is the same in both within {margin}: "), *figures]
    return [*lead, name, Span(" in B against A is "), Span("undecided", "open"), Span(": "), *figures]


def _figures(arm: ArmCompared, comparison: RunsComparison) -> Sentence:
    """The ratio and the interval that decided: for "same" the 90 % one."""
    estimate = Span(numbers.ratio(arm.ratio.estimate), "estimate")
    return [
        estimate,
        Span(f" {METRIC_NAMES[comparison.metric]} of A"),
        *_interval(arm.verdict, arm.ratio, arm.ratio_90),
    ]


def _interval(verdict: str, ratio: Estimate, ratio_90: Estimate) -> Sentence:
    level, shown = ("90 %", ratio_90) if verdict == "same" else ("95 %", ratio)
    if shown.low is None or shown.high is None:
        return [Span(" (fewer than 6 blocks: no interval)")]
    return [Span(f" ({level} interval {numbers.ratio(shown.low)} to {numbers.ratio(shown.high)})", "bound")]


def _effect(effect: EffectCompared | None, names: ArmNames, comparison: RunsComparison) -> Sentence:
    """Whether the arm does to its baseline in B what it did in A."""
    if effect is None or effect.withheld:
        return []
    margin = numbers.percent(comparison.margin)
    first, second = numbers.ratio(effect.first.estimate), numbers.ratio(effect.second.estimate)
    of = f" effect against {names.short(effect.baseline)}"
    times = f"{first} in A, {second} in B"
    changed = [
        Span(f": {times}, B / A "),
        Span(numbers.ratio(effect.ratio.estimate), "estimate"),
        *_interval(effect.verdict, effect.ratio, effect.ratio_90),
        Span("."),
    ]
    if effect.verdict in ("better", "worse"):
        word = Span(effect.verdict, "better" if effect.verdict == "better" else "worse")
        return [Span(f" Its{of} is "), word, Span(" in B"), *changed]
    if effect.verdict == "small":
        return [Span(f" Its{of} changed, but by less than {margin}"), *changed]
    if effect.verdict == "same":
        return [Span(f" Its{of} is the same within {margin}: {times}.")]
    return [Span(f" Whether its{of} changed is undecided: {times}.")]


def _caution(arm: ArmCompared) -> Sentence:
    if "definition" not in arm.limited_by:
        return []
    return [Span(" Caution: ", "open"), Span("its definition is not the same in both (see what differs).")]
