"""When a run was looked at, what its null arm says and what a run will be able to tell: the exact sentences."""

from __future__ import annotations

import dataclasses

import pytest
from example_findings import commit_write

from dbdyno.analysis.findings import Estimate, FalseAlarms, Findings, NullArm, Outlook, Stopping
from dbdyno.report.outlook_words import outlook_sentence
from dbdyno.report.stopping_words import null_arm_sentence, stopping_sentence

LOOKS = [12, 18, 24, 30]


def findings(complete: int, stopping: Stopping) -> Findings:
    """A run of at most 30 blocks."""
    return dataclasses.replace(commit_write(), blocks=30, blocks_complete=complete, stopping=stopping)


@pytest.mark.parametrize(
    ("complete", "stopping", "expected"),
    [
        (30, Stopping(False, [30], [30], False), None),
        (
            30,
            Stopping(False, LOOKS, LOOKS, False),
            "Looked at after 12, 18, 24 and 30 blocks; the levels allow for that.",
        ),
        (
            18,
            Stopping(False, LOOKS, LOOKS[:2], True),
            "Stopped after 18 of at most 30 blocks, at the second of 4 looks: every comparison is decided.",
        ),
        (
            9,
            Stopping(True, [], [], True),
            "Stopped after 9 of at most 30 blocks, looked at after every block: every comparison is decided.",
        ),
        (
            30,
            Stopping(True, [], [], False),
            "Looked at after every block; 30 of at most 30 did not decide every comparison.",
        ),
    ],
)
def test_when_a_run_was_looked_at(complete: int, stopping: Stopping, expected: str | None) -> None:
    """One look at the end is not worth a word."""
    assert stopping_sentence(findings(complete, stopping)) == expected


def test_the_null_arm() -> None:
    """The first of a machine, and one of many that was called different."""
    null = NullArm(
        "null-arm", "small", "throughput_per_s", Estimate(1.02, 0.99, 1.05), 0.4, False, FalseAlarms(1, 0, 0, 1)
    )
    wrong = dataclasses.replace(null, p_value=0.0004, different=True, on_this_machine=FalseAlarms(40, 3, 0, 5))

    assert null_arm_sentence(null) == (
        "Null arm: a second copy of small was not told from it (1.020x the throughput, p = 0.400). "
        "It is the first on this machine."
    )
    assert null_arm_sentence(wrong) == (
        "Null arm: a second copy of small was called different, a false alarm (1.020x the throughput, p <0.001). "
        "On this machine 3 of 40 were false alarms (7.5 %; chance allows 0 to 5)."
    )


@pytest.mark.parametrize(
    ("smallest", "needed", "expected"),
    [
        (0.021, 20, "; the margin of 3 % is within reach"),
        (0.05, 84, "; the margin of 3 % is out of reach: about --blocks 84 would find it; shorter trials"),
        (
            0.9,
            None,
            "; the margin of 3 % is out of reach here: shorter trials and more of them, server and driver pinned",
        ),
    ],
)
def test_what_a_run_will_be_able_to_tell(smallest: float, needed: int | None, expected: str) -> None:
    """And what would bring the margin into reach."""
    within = needed is not None and needed <= 30
    said = outlook_sentence(Outlook(8, 30, 3, smallest, 0.03, within, needed))

    assert said.startswith(
        f"after 8 blocks: 30 blocks will find differences of {smallest * 100:.2g} % or more, 4 times in 5"
    )
    assert expected in said
