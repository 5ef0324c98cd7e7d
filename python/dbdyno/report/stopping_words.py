"""When a run was looked at and why it ended, and what its null arm says: a sentence each."""

from __future__ import annotations

from dbdyno.analysis.findings import Findings, NullArm
from dbdyno.report import numbers
from dbdyno.report.sentences import METRIC_NAMES

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def stopping_sentence(findings: Findings) -> str | None:
    """None for a run that had one look, at its end, and reached it."""
    stopping, complete = findings.stopping, findings.blocks_complete
    if stopping.decided_early:
        looked = "looked at after every block" if stopping.until_decided else f"at the {_ordinal(findings)}"
        return f"Stopped after {complete} of at most {findings.blocks} blocks, {looked}: every comparison is decided."
    if stopping.until_decided:
        return f"Looked at after every block; {complete} of at most {findings.blocks} did not decide every comparison."
    if len(stopping.looks) < 2:
        return None
    looks = ", ".join(map(str, stopping.looks[:-1]))
    return f"Looked at after {looks} and {stopping.looks[-1]} blocks; the levels allow for that."


def _ordinal(findings: Findings) -> str:
    number = len(findings.stopping.looked_at)
    which = ORDINALS[number - 1] if number <= len(ORDINALS) else f"{number}th"
    return f"{which} of {len(findings.stopping.looks)} looks"


def null_arm_sentence(null: NullArm) -> str:
    """What the second copy of the baseline was called, and how often this machine's runs were wrong so far."""
    ratio = numbers.ratio(null.ratio.estimate)
    said = "was called different, a false alarm" if null.different else "was not told from it"
    seen = f"Null arm: a second copy of {null.baseline} {said} ({ratio} {METRIC_NAMES[null.metric]}, "
    seen += f"p {_p(null.p_value)})."
    so_far = null.on_this_machine
    if so_far.runs == 1:
        return f"{seen} It is the first on this machine."
    share = numbers.percent(so_far.different / so_far.runs)
    expected = f"chance allows {so_far.expected_least} to {so_far.expected_most}"
    return f"{seen} On this machine {so_far.different} of {so_far.runs} were false alarms ({share}; {expected})."


def _p(value: float) -> str:
    text = numbers.p_value(value)
    return text if text.startswith("<") else f"= {text}"
