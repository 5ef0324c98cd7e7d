"""What is said where there is nothing to compare, or nothing that may be concluded."""

from __future__ import annotations

import dataclasses

import example_findings
import pytest
import synthetic

from dbdyno.analysis.analyse import analyse
from dbdyno.analysis.findings import Check, Estimate
from dbdyno.report.sentences import plain, trial_length, verdict_sentences


def test_one_arm_gets_its_profile_in_words() -> None:
    """No comparison is possible, so the sentence says what a unit is made of."""
    run, machine, trials = synthetic.run(arms=1, blocks=6)

    sentences = [plain(sentence) for sentence in verdict_sentences(analyse(run, machine, trials))]

    assert len(sentences) == 1
    assert sentences[0].startswith(f"No comparison: there is one arm. {run['arms'][0]['arm']} takes ")


def test_without_a_complete_block_there_is_no_verdict() -> None:
    """An interrupted run says so."""
    run, machine, trials = synthetic.run(arms=2, blocks=6)

    sentences = verdict_sentences(analyse(run, machine, trials[:1]))

    assert plain(sentences[0]) == "No verdict: no block is complete, so there is nothing to compare."


def withheld(side: str) -> str:
    """The sentence where the arm or its baseline fails two checks."""
    findings = example_findings.commit_write()
    failed = [
        Check("physical reads", "physical reads of 100 %", "43 %", 12, 12),
        Check(
            "deviation", "every level as the experiment file has it", "fsync: set to on, the session says off", 12, 1
        ),
        Check("plan", "a plan with Seq Scan", "", 12, 0),
    ]
    arms = [dataclasses.replace(arm, checks=failed if arm.arm == side else []) for arm in findings.arms]
    one = dataclasses.replace(findings.comparisons[0], verdict="undecided", limited_by=["check", "client_bound"])
    [sentence] = verdict_sentences(dataclasses.replace(findings, arms=arms, comparisons=[one]))
    return plain(sentence)


@pytest.mark.parametrize("name", ["wait-batch", "wait-immediate"])
def test_a_withheld_verdict_says_what_was_not_done_and_no_ratio(name: str) -> None:
    """On the arm or on its baseline: what was expected, what was seen, in how many trials."""
    assert withheld(f"io-bound/{name}") == (
        f"io-bound: no verdict on wait-batch against wait-immediate. {name} did not do what its name says: "
        "expected physical reads of 100 %, 43 % seen in 12 of 12 trials; "
        "fsync: set to on, the session says off, in 1 of 12 trials."
    )


def test_one_arm_that_failed_its_checks_says_so() -> None:
    """There is no verdict to withhold, but its figures are not what its name says either."""
    findings = example_findings.commit_write()
    failed = [Check("plan", "a plan with Sort", "not known", 12, 12)]
    alone = [dataclasses.replace(findings.arms[0], checks=failed)]

    [sentence] = verdict_sentences(dataclasses.replace(findings, arms=alone, comparisons=[]))

    assert plain(sentence).endswith(
        "io-bound/wait-immediate did not do what its name says: expected a plan with Sort, "
        "not known seen in 12 of 12 trials."
    )


@pytest.mark.parametrize(
    ("fixed", "window_ns", "words"),
    [
        ([None, None], 1_000_000_000, "1 s"),
        ([1, 1], 0, "1 execution each"),
        ([1, 5000], 0, "1 to 5,000 executions each"),
        ([None, 10], 200_000_000, "200 ms or of 10 executions each"),
    ],
)
def test_what_ends_a_trial(fixed: list[int | None], window_ns: int, words: str) -> None:
    """A window, or so many executions, or both where arms differ."""
    findings = example_findings.commit_write()
    arms = [dataclasses.replace(arm, fixed_units=units) for arm, units in zip(findings.arms, fixed, strict=False)]

    assert trial_length(dataclasses.replace(findings, arms=arms, window_ns=window_ns)) == words


def with_verdicts(*verdicts: str) -> list[str]:
    """The sentences of four comparisons without a group that have these verdicts."""
    findings = example_findings.commit_write()
    arms = [dataclasses.replace(findings.arms[0], arm="base", levels={"how": "base"}, baseline=None)]
    comparisons = []
    for place, word in enumerate(verdicts):
        name = f"arm-{place}"
        arms.append(dataclasses.replace(findings.arms[1], arm=name, levels={"how": name}, baseline="base"))
        ratio = Estimate(1.01 + place / 100, 0.9, 1.2)
        changes = {"arm": name, "baseline": "base", "verdict": word, "blocks_needed": 20 + place, "ratio": ratio}
        comparisons.append(dataclasses.replace(findings.comparisons[0], **changes))  # type: ignore[arg-type]
    changed = dataclasses.replace(findings, arms=arms, comparisons=comparisons)
    return [plain(sentence) for sentence in verdict_sentences(changed)]


def test_many_undecided_comparisons_share_a_paragraph_behind_what_is_decided() -> None:
    """Four of five: each with its ratio, and how many blocks would decide them."""
    sentences = with_verdicts("undecided", "undecided", "better", "undecided", "undecided")

    assert len(sentences) == 2
    assert sentences[0].startswith("arm-2 is better than base: 1.030x the throughput")
    assert sentences[1] == (
        "undecided against base, the throughput: arm-0 1.010x, arm-1 1.020x, arm-3 1.040x, arm-4 1.050x."
        " 20 to 24 blocks would decide them; this run has 12."
    )


def test_a_few_undecided_comparisons_are_said_one_by_one() -> None:
    """Three leave room for that, in the order of the file."""
    sentences = with_verdicts("undecided", "better", "undecided", "undecided")

    assert [sentence.split(" ")[0] for sentence in sentences] == ["arm-0", "arm-1", "arm-2", "arm-3"]
