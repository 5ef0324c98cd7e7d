"""The verdict in sentences: what changed, by how much, why, and what it risks.

A sentence is a list of spans; the role of a span says how it may be set, its text alone must carry the meaning.
"""

from __future__ import annotations

import dataclasses
from typing import Literal

from dbdyno.analysis.findings import Arm, Check, Comparison, Estimate, Findings, Reason, event_note
from dbdyno.report import numbers
from dbdyno.report.naming import ArmNames, part_name

Role = Literal["plain", "arm", "estimate", "bound", "better", "worse", "open"]

METRIC_NAMES = {
    "throughput_per_s": "the throughput",
    "rows_per_s": "the rows per second",
    "bytes_per_s": "the bytes per second",
    "elapsed_ns": "the elapsed time",
    "response_time_ns_mean": "the mean response time",
    "response_time_ns_p50": "the median response time",
    "response_time_ns_p95": "the p95 response time",
    "response_time_ns_p99": "the p99 response time",
}
CAUTIONS = {
    "client_bound": "the driver, not the server, was the limit",
    "driver_cpu": "the driver took much of the machine's CPU",
    "late": "the driver started units late",
    "little": "Little's law does not hold",
    "plan_changed": "the plan of a statement changed between trials",
    "warm_up": "the warm-up was not over when the window began",
    "few_units": "trials have too few units for their percentile",
    "carry_over": "arms leave something behind for the trial after them",
    "machine_changed": "the machine is slower than in earlier runs",
    "tmpfs": "the data lies in memory (tmpfs)",
    "overlay": "the data lies on a container's layers (overlay)",
    "network_file_system": "the data lies on a network file system",
    "no_barrier": "the file system is mounted without barriers",
    "fast_flush": "a flush is too fast to reach a disk",
    "fsync_off": "the server runs with fsync = off",
}

# From so many undecided comparisons in a group on, one paragraph says it for all: what is decided comes first.
MANY_UNDECIDED = 4
# From so many comparisons in a group on, nobody reads a paragraph for each.
MANY_COMPARED = 9
_ROLES: dict[str, Role] = {
    **{"better": "better", "worse": "worse", "small": "plain", "same": "plain"},
    **{"undecided": "open", "withheld": "open"},
}

# Of what changed in the effect's direction, name parts until four fifths are explained, but at most two;
# what went the other way is named from a tenth of the whole change on.
EXPLAINED = 0.8
NAMED_PARTS = 2
COUNTER_SHARE = 0.1
# Where CPU and run queue are more than half of the response time, no change of waits can be a great effect.
MOSTLY_CPU = 0.5
GREAT_EFFECT = 1.25


@dataclasses.dataclass(frozen=True, slots=True)
class Span:
    """Some words of a sentence and their role."""

    text: str
    role: Role = "plain"


Sentence = list[Span]


def plain(sentence: Sentence) -> str:
    """The words without their roles."""
    return "".join(span.text for span in sentence)


def verdict_sentences(findings: Findings) -> list[Sentence]:
    """A paragraph for each comparison, those of a group together; many undecided ones of a group share one."""
    return [sentence for _, sentence in verdicts_by_group(findings)]


def verdicts_by_group(findings: Findings) -> list[tuple[str | None, Sentence]]:
    """The paragraphs of `verdict_sentences`, each with the group that it is about."""
    if not findings.comparisons:
        return [(None, _no_comparison(findings))]
    names = ArmNames(findings)
    groups: dict[str | None, list[Comparison]] = {}
    for comparison in findings.comparisons:
        groups.setdefault(names.group(comparison.arm), []).append(comparison)
    return [(group, said) for group, compared in groups.items() for said in _of_group(compared, names, findings)]


def _of_group(compared: list[Comparison], names: ArmNames, findings: Findings) -> list[Sentence]:
    """What is decided first, if much is not."""
    if len(compared) >= MANY_COMPARED:
        return [_many(compared, names)]
    arms = {arm.arm: arm for arm in findings.arms}
    undecided = [one for one in compared if one.verdict == "undecided" and not one.withheld]
    if len(undecided) < MANY_UNDECIDED:
        undecided = []
    said = [
        _withheld(comparison, names, arms)
        if comparison.withheld
        else [
            *_verdict(comparison, names, findings),
            *_why(comparison, findings),
            *_risk(arms[comparison.arm]),
            *_caution(comparison),
        ]
        for comparison in compared
        if comparison not in undecided
    ]
    return [*said, _undecided(undecided, names)] if undecided else said


def _many(compared: list[Comparison], names: ArmNames) -> Sentence:
    """A group in one paragraph, by verdict: the table of effects has the intervals."""
    first = compared[0]
    group = names.group(first.arm)
    baselines = list(dict.fromkeys(names.short(one.baseline) for one in compared))
    said: Sentence = [Span(f"{group}: ")] if group else []
    said.append(Span(f"against {' and '.join(baselines)}, {METRIC_NAMES[first.metric]}"))
    for verdict, role in _ROLES.items():
        those = [one for one in compared if verdict_word(one) == verdict]
        if those:
            said += [Span("; "), Span(verdict, role), Span(":")]
            for one in those:
                ratio = "" if one.withheld else f" {numbers.ratio(one.ratio.estimate)}"
                said += [Span(f" {names.short(one.arm)}"), Span(ratio, "estimate"), Span(",")]
            said.pop()
    codes = list(dict.fromkeys(code for one in compared for code in one.limited_by))
    return [*said, Span("."), *_caution(dataclasses.replace(first, limited_by=codes))]


def _undecided(comparisons: list[Comparison], names: ArmNames) -> Sentence:
    """All of a group in one paragraph: each with its ratio, and how many blocks would decide."""
    first = comparisons[0]
    group = names.group(first.arm)
    said: Sentence = [Span(f"{group}: ")] if group else []
    baselines = list(dict.fromkeys(names.short(one.baseline) for one in comparisons))
    said += [Span("undecided", "open"), Span(f" against {' and '.join(baselines)}, {METRIC_NAMES[first.metric]}: ")]
    for one in comparisons:
        ratio = Span(f" {numbers.ratio(one.ratio.estimate)}", "estimate")
        said += [Span(names.short(one.arm), "arm"), ratio, Span("." if one is comparisons[-1] else ", ")]
    needed = [one.blocks_needed for one in comparisons if one.blocks_needed is not None]
    if needed:
        fewest = f"{min(needed)} to " if min(needed) < max(needed) else ""
        each = (
            f" {fewest}{max(needed)} blocks would decide them" if len(needed) > 1 else f" {needed[0]} would decide one"
        )
        said.append(Span(f"{each}; this run has {len(first.block_ratios)}."))
    codes = list(dict.fromkeys(code for one in comparisons for code in one.limited_by))
    return [*said, *_caution(dataclasses.replace(first, limited_by=codes))]


def trial_length(findings: Findings) -> str:
    """What ends a trial: a window, or so many executions."""
    fixed = sorted({arm.fixed_units for arm in findings.arms if arm.fixed_units is not None})
    words = [numbers.exact_duration(findings.window_ns)] if findings.window_ns or not fixed else []
    if fixed:
        fewest = f"{fixed[0]:,} to " if len(fixed) > 1 else ""
        words.append(f"{fewest}{fixed[-1]:,} execution{'' if fixed[-1] == 1 else 's'} each")
    return " or of ".join(words)


def verdict_word(comparison: Comparison) -> str:
    """The verdict as a table says it: there is none where an arm did not do what its name says."""
    return "withheld" if comparison.withheld else comparison.verdict


def _no_comparison(findings: Findings) -> Sentence:
    if not findings.blocks_complete:
        return [Span("No verdict: no block is complete, so there is nothing to compare.", "open")]
    arm = findings.arms[0]
    parts = sorted(arm.profile_ns.parts().items(), key=lambda part: -part[1])[:2]
    largest = " and ".join(f"{part_name(part)} ({numbers.percent(ns / arm.profile_total_ns)})" for part, ns in parts)
    took = numbers.duration(arm.profile_total_ns)
    said = [Span("No comparison: there is one arm. "), Span(arm.arm, "arm"), Span(f" takes {took} a unit: {largest}.")]
    return [*said, *_did_not(arm, arm.arm)]


def _verdict(comparison: Comparison, names: ArmNames, findings: Findings) -> Sentence:
    group = names.group(comparison.arm)
    lead = [Span(f"{group}: ")] if group else []
    arm, baseline = Span(names.short(comparison.arm), "arm"), Span(names.short(comparison.baseline), "arm")
    effect = _effect(comparison)
    margin = numbers.percent(findings.margin)
    if comparison.verdict in ("better", "worse"):
        word = Span(comparison.verdict, "better" if comparison.verdict == "better" else "worse")
        return [*lead, arm, Span(" is "), word, Span(" than "), baseline, Span(": "), *effect]
    if comparison.verdict == "small":
        gain = (comparison.ratio.estimate > 1) == findings.higher_is_better
        word = Span("a little better" if gain else "a little worse")
        less = Span(f", but by less than the margin of {margin}: ")
        return [*lead, arm, Span(" is "), word, Span(" than "), baseline, less, *effect]
    if comparison.verdict == "same":
        return [*lead, arm, Span(" is the same as "), baseline, Span(f" within {margin}: "), *effect]
    return [
        *lead, arm, Span(" against "), baseline, Span(" is "), Span("undecided", "open"), Span(": "), *effect,
        Span(_blocks(comparison)),
    ]  # fmt: skip


def _withheld(comparison: Comparison, names: ArmNames, arms: dict[str, Arm]) -> Sentence:
    """No verdict and no figure, however great the effect: what each of the two arms did not do."""
    group = names.group(comparison.arm)
    arm, baseline = Span(names.short(comparison.arm), "arm"), Span(names.short(comparison.baseline), "arm")
    lead = [Span(f"{group}: ")] if group else []
    sentence = [*lead, Span("no verdict", "open"), Span(" on "), arm, Span(" against "), baseline, Span(".")]
    for side in (comparison.arm, comparison.baseline):
        sentence += _did_not(arms[side], names.short(side))
    return sentence


def _did_not(arm: Arm, name: str) -> Sentence:
    if not arm.failed_checks:
        return []
    shown = "; ".join(map(failed_check, arm.failed_checks))
    return [Span(" "), Span(name, "arm"), Span(f" did not do what its name says: {shown}.")]


def failed_check(check: Check) -> str:
    """What was expected and what was seen instead."""
    trials = f"in {check.failed_trials} of {check.trials} trials"
    if check.check == "deviation":
        return f"{check.seen}, {trials}"
    return f"expected {check.expected}, {check.seen} seen {trials}"


def _effect(comparison: Comparison) -> Sentence:
    """The ratio and the interval that decided: for "same" the 90 % one."""
    same = comparison.verdict == "same"
    level, shown = ("90 %", comparison.ratio_90) if same else ("95 %", comparison.ratio)
    estimate = Span(numbers.ratio(comparison.ratio.estimate), "estimate")
    return [estimate, Span(f" {METRIC_NAMES[comparison.metric]}"), *_interval(level, shown), Span(".")]


def _interval(level: str, shown: Estimate) -> Sentence:
    if shown.low is None or shown.high is None:
        return [Span(" (fewer than 6 blocks: no interval)")]
    return [Span(f" ({level} interval {numbers.ratio(shown.low)} to {numbers.ratio(shown.high)})", "bound")]


def _blocks(comparison: Comparison) -> str:
    if comparison.blocks_needed is None:
        return " No reasonable number of blocks would decide it at this noise."
    return f" About {comparison.blocks_needed} blocks would decide it; this run has {len(comparison.block_ratios)}."


def _why(comparison: Comparison, findings: Findings) -> Sentence:
    """The parts of the profile that moved, where they moved the way the effect did."""
    per = "row" if comparison.metric == "rows_per_s" else "unit"
    words: list[str] = []
    if comparison.verdict in ("better", "worse", "small"):
        total = sum(reason.difference_ns for reason in comparison.why)
        improved = (comparison.ratio.estimate > 1) == findings.higher_is_better
        if total and improved == (total < 0):
            words += _moves(comparison.why, total, per)
    words += _mostly_cpu(comparison)
    return [Span(" " + " ".join(words))] if words else []


def _moves(why: list[Reason], total: float, per: str) -> list[str]:
    """Only what is told from zero is a reason."""
    along = [reason for reason in why if reason.told and reason.difference_ns * total > 0]
    against = [reason for reason in why if reason.told and reason.difference_ns * total < 0]
    if not along:
        return ["Why is not known: no part of the response time is told from chance."]
    named: list[Reason] = []
    for reason in along[:NAMED_PARTS]:
        explained = sum(one.difference_ns for one in named)
        if explained / sum(one.difference_ns for one in along) < EXPLAINED:
            named.append(reason)
    counter = [reason for reason in against[:1] if abs(reason.difference_ns) >= COUNTER_SHARE * abs(total)]
    unit = numbers.time_unit(max(max(abs(one.baseline_ns), abs(one.arm_ns)) for one in (*named, *counter)))
    verbs = ("fell", "rose") if total < 0 else ("rose", "fell")
    first = _moved(named[0], unit, f" {verbs[0]}")
    text = " and ".join([first, *(_moved(reason, unit) for reason in named[1:])]) + f" per {per}"
    text += "".join(f", while {_moved(reason, unit, f' {verbs[1]}')}" for reason in counter)
    return [f"Why: {text}."]


def _moved(reason: Reason, unit: numbers.Unit, verb: str = "") -> str:
    note = event_note(reason.part)
    name = part_name(reason.part) if note is None else f"{part_name(reason.part)} ({note})"
    return f"{name}{verb} {numbers.change(reason.baseline_ns, reason.arm_ns, unit)}"


def _mostly_cpu(comparison: Comparison) -> list[str]:
    """Why a gain is not greater: what waits could give is little, the response time is made of something else.

    Not said of a loss, nor of a great effect on anything but waits: there is nothing to explain away.
    """
    great = max(comparison.ratio.estimate, 1 / comparison.ratio.estimate) > GREAT_EFFECT
    if comparison.verdict == "worse" or (great and ":" not in comparison.why[0].part):
        return []
    shares = {reason.part: reason.baseline_share for reason in comparison.why}
    if "cpu" not in shares or shares["cpu"] + shares["run_queue"] < MOSTLY_CPU:
        return []
    waits = {part: share for part, share in shares.items() if ":" in part}
    waiting, busy = numbers.percent(sum(waits.values())), numbers.percent(shares["cpu"] + shares["run_queue"])
    return [f"Why no more: waits are only {waiting} of the response time there; CPU and run queue are {busy}."]


def _about(count: str) -> str:
    return count if count.startswith("less") else f"about {count}"


def _risk(arm: Arm) -> Sentence:
    exposure = arm.exposure
    if exposure is None or not exposure.acknowledged:
        return []
    commits = exposure.commits
    lost = "" if commits is None else f", {_about(numbers.count(commits.p95, 'acknowledged commit'))}"
    age = numbers.duration(exposure.age_ns.p95)
    return [Span(f" At risk in a crash (p95): {numbers.size(exposure.bytes.p95)} of WAL{lost}, {age} old.")]


def _caution(comparison: Comparison) -> Sentence:
    if not comparison.limited_by:
        return []
    said = "; ".join(CAUTIONS.get(code, code.replace("_", " ")) for code in comparison.limited_by)
    return [Span(" Caution: ", "open"), Span(f"{said} (see the warnings).")]
