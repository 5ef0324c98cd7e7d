"""Compared runs on a terminal and as a page: golden texts, the width of the page, each sentence a verdict can be.

A golden text is rewritten with `BLESS=1 pytest tests/report`; read the difference before committing it.
"""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import pytest
from compared_runs import ALL, recorded

from dbdyno.analysis.runs_compared.compare import compare_runs
from dbdyno.analysis.runs_compared.findings import RunsComparison
from dbdyno.analysis.runs_compared.history import runs_history
from dbdyno.analysis.runs_compared.record import Recorded
from dbdyno.report.html import runs as page
from dbdyno.report.runs_compared import history as history_report
from dbdyno.report.runs_compared.sentences import gate_words, run_sentences
from dbdyno.report.runs_compared.terminal import Places, render
from dbdyno.report.sentences import plain

GOLDEN = Path(__file__).parent / "golden"
PLACES = Places(["dbdyno-runs/A", "dbdyno-runs/B"], [False, False])
BATCH = "io-bound/wait-batch"


def newer(one: Recorded) -> Recorded:
    """The same run on another build, with other settings, on another kernel; its last arm had more clients."""
    run, machine = json.loads(json.dumps([one.run, one.machine]))
    machine.update(kernel="6.18.1")
    machine["data_directory"]["flush_time_ns_p50"] = 640_000
    machine["server"].update(version="19.1", settings={"shared_buffers": "1GB"})
    run["arms"][-1]["clients"] = 9
    return dataclasses.replace(one, run=run, machine=machine, files={"experiment.toml": "1" * 64})


def other_build() -> RunsComparison:
    """All arms 10 % slower under another build."""
    return compare_runs(recorded(1, arms=8), newer(recorded(2, arms=8, slower=dict.fromkeys(ALL, 1.10))))


def same_system() -> RunsComparison:
    """Nothing but the day differs, and one arm lost speed."""
    return compare_runs(recorded(1, arms=2, noise=0.0005), recorded(3, arms=2, noise=0.0005, slower={BATCH: 1.10}))


def five_blocks() -> RunsComparison:
    """Times, without a verdict; B is the earlier one."""
    metric = "response_time_ns_p99"
    return compare_runs(recorded(2, arms=2, blocks=5, metric=metric), recorded(1, arms=2, blocks=5, metric=metric))


def many() -> str:
    """Three runs, the last with more arms and on another build."""
    runs = [recorded(1, arms=2), recorded(2, arms=2), newer(recorded(3, arms=8))]
    return history_report.render(runs_history(runs), page="runs.html")


TEXTS = {
    "runs-other-build": lambda: render(other_build(), PLACES),
    "runs-same-system": lambda: render(
        same_system(), dataclasses.replace(PLACES, archived=[True, False], page="x.html")
    ),
    "runs-five-blocks": lambda: render(five_blocks(), PLACES),
    "runs-history": many,
}


@pytest.mark.parametrize("case", TEXTS)
def test_golden_text(case: str) -> None:
    """The whole text, to the blank; no line wider than the page."""
    path = GOLDEN / f"{case}.txt"
    text = TEXTS[case]()
    if os.environ.get("BLESS") == "1":
        path.write_text(text, encoding="utf-8")

    assert text == path.read_text(encoding="utf-8"), "the report changed: read it, then BLESS=1 to accept"
    for line in text.splitlines():
        assert len(line) <= 80
        assert line == line.rstrip()
        assert line.isprintable()


def _sentence(**changes: Any) -> str:
    found = same_system()
    changed = dataclasses.replace(found, arms=[found.arms[0], dataclasses.replace(found.arms[1], **changes)])
    return plain(run_sentences(changed)[-1][1])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"verdict": "worse"}, "io-bound: wait-batch is worse in B: 0.9"),
        ({"verdict": "better"}, "wait-batch is better in B: "),
        ({"verdict": "small"}, "is a little worse in B, but by less than the margin of 3 %: "),
        ({"verdict": "same"}, "is the same in both within 3 %: 0.912x the throughput of A (90 % interval "),
        ({"verdict": "undecided"}, "wait-batch in B against A is undecided: "),
        ({"limited_by": ["check"]}, "no verdict on wait-batch: in one of the runs it did not do what its name says"),
        ({"limited_by": ["definition"]}, "Caution: its definition is not the same in both (see what differs)."),
    ],
)
def test_sentence_of_each_verdict(changes: dict[str, Any], words: str) -> None:
    """Each says what was decided, and what not."""
    assert words in _sentence(**changes)


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("worse", " Its effect against wait-immediate is worse in B: 1.0"),
        ("small", " Its effect against wait-immediate changed, but by less than 3 %: "),
        ("same", " Its effect against wait-immediate is the same within 3 %: 1.0"),
        ("undecided", " Whether its effect against wait-immediate changed is undecided: 1.0"),
    ],
)
def test_sentence_of_each_effect(verdict: str, words: str) -> None:
    """The effect within the runs stands beside the arm's own change."""
    found = same_system()
    changed = dataclasses.replace(found, effects=[dataclasses.replace(found.effects[0], verdict=verdict)])

    assert words in plain(run_sentences(changed)[-1][1])


def test_the_gate_says_in_one_line_what_tripped_it() -> None:
    """Or that it holds, and how many arms it could not judge."""
    found = same_system()
    held = dataclasses.replace(found, worse=[])
    withheld = [dataclasses.replace(arm, limited_by=["check"]) for arm in found.arms]

    assert gate_words(found).startswith(f"gate: B is worse than A: {BATCH} 0.9")
    assert gate_words(held) == "gate: holds: no verdict of 2 arms is worse"
    assert gate_words(dataclasses.replace(held, arms=withheld)).endswith("is worse; 2 arms without a verdict")
    assert "\n" not in gate_words(found)


def test_the_page_says_what_the_terminal_says() -> None:
    """Sentences, what differs and the factor to add; names are escaped."""
    found = other_build()
    html = page.comparison_page(found, runs_history([recorded(1), newer(recorded(2))]), PLACES)

    assert html.count('<span class="worse">worse</span>') == 7
    assert "shared_buffers 256MB, then 1GB" in html
    assert "[factors.build]\n&#34;18.6&#34;.server_bin" in html
    assert "dbdyno run settle/experiment.toml --blocks 12" in html
    assert '"error_y"' in html
