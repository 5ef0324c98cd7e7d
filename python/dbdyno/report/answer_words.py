"""Time against error in sentences: the fastest way to the right answer, and what an error buys."""

from __future__ import annotations

import itertools

from dbdyno.analysis.findings import Arm, Findings, Step, Tradeoff
from dbdyno.report import numbers
from dbdyno.report.naming import ArmNames
from dbdyno.report.sentences import Sentence, Span

# What is less than a page is no temporary file.
PAGE_BYTES = 8192
MOST_RIVALS = 3


def answer_sentences(findings: Findings) -> list[Sentence]:
    """One paragraph for each group of arms that answer the same questions in one place."""
    arms, names = {arm.arm: arm for arm in findings.arms}, ArmNames(findings)
    return [_sentence(one, arms, names) for one in findings.tradeoffs]


def _sentence(found: Tradeoff, arms: dict[str, Arm], names: ArmNames) -> Sentence:
    group = names.group(found.baseline)
    where = "on a copy, which had to be made first, " if found.on_copy else ""
    first = found.steps[0]
    said: Sentence = [
        Span(f"{group}: " if group else ""),
        Span(f"{where}the fastest exact count is " if first.exact else f"{where}the least error has "),
        Span(names.short(first.arm), "arm"),
        Span(f": {_costs(first, arms)}{_rivals(first, names)}."),
    ]
    for before, step in itertools.pairwise(found.steps):
        assert step.ratio is not None
        said += [
            Span(" "),
            Span(names.short(step.arm), "arm"),
            Span(" takes "),
            Span(numbers.ratio(step.ratio.estimate), "estimate"),
            Span(f" {numbers.interval(step.ratio.low, step.ratio.high)}", "bound"),
            Span(f" of the time of {names.short(before.arm)}: {_costs(step, arms)}{_rivals(step, names)}."),
        ]
    if first.exact and len(found.steps) == 1 and not found.on_copy:
        said.append(Span(" No estimate is told to be faster."))
    return [*said, *_singles(found, arms, names)]


def _costs(step: Step, arms: dict[str, Arm]) -> str:
    arm = arms[step.arm]
    said = [numbers.duration(arm.elapsed_ns.estimate if arm.elapsed_ns else arm.profile_total_ns)]
    if step.error:
        worst = max(answer.worst for answer in arm.answers)
        said.append(f"{numbers.percent(step.error)} off (root mean square; at worst {numbers.percent(worst)})")
    elif not step.exact:
        said.append(f"right with all {arm.trials} seeds")
    if arm.cost and arm.cost.memory_bytes:
        said.append(f"{numbers.size(arm.cost.memory_bytes.estimate)} of memory")
    if arm.cost and arm.cost.temp_bytes is not None:
        spilled = arm.cost.temp_bytes >= PAGE_BYTES
        said.append(f"{numbers.size(arm.cost.temp_bytes)} of temporary files" if spilled else "no temporary file")
    return ", ".join(said)


def _rivals(step: Step, names: ArmNames) -> str:
    if not step.rivals:
        return ""
    shown = ", ".join(names.short(arm) for arm in step.rivals[:MOST_RIVALS])
    more = f" and {len(step.rivals) - MOST_RIVALS} more" if len(step.rivals) > MOST_RIVALS else ""
    return f" (not told apart in time: {shown}{more})"


def _singles(found: Tradeoff, arms: dict[str, Arm], names: ArmNames) -> Sentence:
    """Arms that cannot be ranked: one error is no distribution."""
    if not found.single:
        return []
    said = [
        f"{names.short(one)} ({numbers.percent(max(answer.worst for answer in arms[one].answers))} off)"
        for one in found.single
    ]
    return [Span(f" Not ranked, for without a seed it shows one error only: {', '.join(said)}.")]
