"""What is said where there is nothing to compare."""

from __future__ import annotations

import synthetic

from dbdyno.analysis.analyse import analyse
from dbdyno.report.sentences import plain, verdict_sentences


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
