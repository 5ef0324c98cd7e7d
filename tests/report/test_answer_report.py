"""Answers against the truth as a reader meets them: sentences, the table, the chart."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

import plotly.graph_objects
import pytest
from counting_run import counting_run

from dbdyno.analysis.analyse import analyse
from dbdyno.analysis.findings import Cost, Estimate, Findings, Step, Tradeoff
from dbdyno.report.answer_words import answer_sentences
from dbdyno.report.html import write_html
from dbdyno.report.html.arrangement import arrange
from dbdyno.report.html.charts import answers
from dbdyno.report.sentences import MANY_COMPARED, plain, verdict_sentences


@pytest.fixture(scope="module")
def findings() -> Findings:
    """Ten blocks."""
    return analyse(*counting_run())


def said(findings: Findings) -> list[str]:
    """The sentences without their roles."""
    return [plain(sentence) for sentence in answer_sentences(findings)]


def fixed(findings: Findings, tradeoff: Tradeoff, error: float = 0.008) -> Findings:
    """The same with round figures: each arm took 250 ms and 12 MiB."""
    answer = dataclasses.replace(findings.arms[2].answers[0], error_rms=error, error_low=-2 * error, error_high=error)
    arms = [
        dataclasses.replace(
            arm,
            elapsed_ns=Estimate(250e6, 240e6, 260e6),
            cost=Cost(Estimate(12 << 20, None, None), None, 0.0 if arm.arm != "both/exact" else 50 << 20),
            answers=[answer] if arm.arm in ("both/hll", "both/lucky") else arm.answers,
        )
        for arm in findings.arms
    ]
    return dataclasses.replace(findings, arms=arms, tradeoffs=[tradeoff])


EXACT = Step("both/exact", True, 0.0, None, [])
ESTIMATE = Step("both/hll", False, 0.008, Estimate(0.4, 0.35, 0.45), ["both/ndv"])


@pytest.mark.parametrize(
    ("tradeoff", "sentence"),
    [
        (
            Tradeoff("both/exact", False, [EXACT, ESTIMATE], []),
            "both: the fastest exact count is exact: 250 ms, 12.0 MiB of memory, 50.0 MiB of temporary files. hll "
            "takes 0.400x [0.350, 0.450] of the time of exact: 250 ms, 0.8 % off (root mean square; at worst 1.6 %), "
            "12.0 MiB of memory, no temporary file (not told apart in time: ndv).",
        ),
        (
            Tradeoff(
                "both/exact", False, [EXACT, ESTIMATE, dataclasses.replace(ESTIMATE, arm="both/ndv", rivals=[])], []
            ),
            "both: the fastest exact count is exact: 250 ms, 12.0 MiB of memory, 50.0 MiB of temporary files. hll "
            "takes 0.400x [0.350, 0.450] of the time of exact: 250 ms, 0.8 % off (root mean square; at worst 1.6 %), "
            "12.0 MiB of memory, no temporary file (not told apart in time: ndv). ndv takes 0.400x [0.350, 0.450] of "
            "the time of hll: 250 ms, 0.8 % off (root mean square; at worst 1.8 %), 12.0 MiB of memory, no temporary "
            "file.",
        ),
        (
            Tradeoff("both/exact", False, [dataclasses.replace(EXACT, arm="both/rewrite")], []),
            "both: the fastest exact count is rewrite: 250 ms, 12.0 MiB of memory, no temporary file. No estimate is "
            "told to be faster.",
        ),
        (
            Tradeoff("both/exact", True, [dataclasses.replace(EXACT, arm="both/duckdb")], ["both/lucky"]),
            "both: on a copy, which had to be made first, the fastest exact count is duckdb: 250 ms, 12.0 MiB of "
            "memory, no temporary file. Not ranked, for without a seed it shows one error only: lucky (1.6 % off).",
        ),
        (
            Tradeoff("both/exact", False, [dataclasses.replace(ESTIMATE, ratio=None, error=0.0, rivals=[])], []),
            "both: the least error has hll: 250 ms, right with all 10 seeds, 12.0 MiB of memory, no temporary file.",
        ),
    ],
)
def test_a_paragraph_says_which_is_fastest_at_which_error(
    findings: Findings, tradeoff: Tradeoff, sentence: str
) -> None:
    """And what it takes beside the time."""
    assert said(fixed(findings, tradeoff)) == [sentence]


def test_many_rivals_are_counted(findings: Findings) -> None:
    """Three by name."""
    step = dataclasses.replace(EXACT, rivals=[arm.arm for arm in findings.arms[1:]])

    assert (
        "(not told apart in time: rewrite, hll, ndv and 2 more)"
        in said(fixed(findings, Tradeoff("both/exact", False, [step], [])))[0]
    )


def test_many_comparisons_of_a_group_share_a_paragraph(findings: Findings) -> None:
    """By verdict; the table of effects has the intervals."""
    one = findings.comparisons[0]
    verdicts = ["better"] * (MANY_COMPARED - 2) + ["worse", "undecided"]
    many = [
        dataclasses.replace(one, verdict=verdict, ratio=Estimate(0.5 + place / 100, None, None), limited_by=[])
        for place, verdict in enumerate(verdicts)
    ]
    sentences = [plain(sentence) for sentence in verdict_sentences(dataclasses.replace(findings, comparisons=many))]

    assert len(sentences) == 1
    assert sentences[0].startswith("both: against exact, the elapsed time; better: rewrite 0.500x, rewrite 0.510x,")
    assert sentences[0].endswith("; worse: rewrite 0.570x; undecided: rewrite 0.580x.")


def test_points_are_the_errors_of_the_trials(findings: Findings) -> None:
    """A panel for each question that an arm missed; arms that were always right stand in the table."""
    chart = answers.chart(arrange(findings))
    assert chart is not None
    (panel,) = chart.panels

    assert panel.title == "both: id"
    assert [trace["name"] for trace in panel.traces] == ["hll", "ndv", "lucky"]
    errors = [100 * (answer / 1e6 - 1) for answer in findings.arms[2].answers[0].answers]
    assert panel.traces[0]["x"] == pytest.approx(errors)
    (_, table) = chart.tables[0]
    assert sum(len(section.rows) for section in table.sections) == 12
    plotly.graph_objects.Figure(data=panel.traces, layout=panel.layout)


def test_the_page_has_the_chart_and_says_the_answer_first(findings: Findings) -> None:
    """Before the verdicts; without a truth there is no such section."""
    page = write_html(findings)
    without = dataclasses.replace(
        findings, tradeoffs=[], arms=[dataclasses.replace(arm, answers=[], cost=None) for arm in findings.arms]
    )

    assert page.index("the fastest exact count") < page.index(">better<")
    assert 'id="section-answers"' in page
    assert 'id="section-answers"' not in write_html(without)


def test_no_seed_leaves_the_page_valid_where_the_truth_is_zero() -> None:
    """A question whose answer is none."""
    run, machine, trials = counting_run(blocks=6)
    run["truth"]["ten"] = 0
    figures: Any = re.search(
        r'<script type="application/json" id="figures">(.*?)</script>',
        write_html(analyse(run, machine, trials)),
        re.DOTALL,
    )
    assert figures is not None
    for figure in json.loads(figures[1]):
        plotly.graph_objects.Figure(data=figure["data"], layout=figure["layout"])
