"""Verdicts on indexes in words, on the terminal and in the page."""

from __future__ import annotations

import dataclasses
import io

import example_findings
import pytest
from rich.console import Console

from dbdyno.analysis.findings import Estimate, Findings, IndexBenefit, IndexCost, IndexVerdict
from dbdyno.report.html import write_html
from dbdyno.report.index_words import index_sentences
from dbdyno.report.sentences import plain
from dbdyno.report.terminal import print_report


def around(value: float) -> Estimate:
    return Estimate(value, value * 0.9, value * 1.1)


def benefit(script: str, ratio: float, verdict: str, under: str | None = "many") -> IndexBenefit:
    return IndexBenefit(under, script, around(ratio), 0.001, 0.01, verdict)


def wal(ratio: float, *, saved: bool, under: str | None = "many") -> IndexCost:
    return IndexCost(under, "wal_bytes_per_row_written", 400.0, 400 * ratio, True, around(ratio), 0.01, saved)


def hot(*, saved: bool) -> IndexCost:
    return IndexCost("many", "hot_share", 0.1, 0.7, False, Estimate(0.6, 0.55, 0.65), 0.01, saved)


def verdict(index: str, word: str, **other: object) -> IndexVerdict:
    whole = IndexVerdict(
        index=index,
        table="orders",
        definition=f"CREATE INDEX {index} ON orders (x)",
        bytes=786_432,
        verdict=word,
        scans_per_unit=0.5,
        benefits=[],
        costs=[wal(0.99, saved=False)],
        blocks_needed=None,
        sql=f"DROP INDEX {index};",
        undo=f"CREATE INDEX {index} ON orders (x);",
    )
    return dataclasses.replace(whole, **other)  # type: ignore[arg-type]


CASES = {
    "vital": (
        verdict("vital", "keep", benefits=[benefit("browse", 4.1, "slower"), benefit("order", 1.5, "slower", "one")]),
        "keep vital: browse takes 4.10x as long without it (95 % interval 3.69x to 4.51x, many); order (one) 1.50x.",
    ),
    "useless": (
        verdict("useless", "drop", scans_per_unit=0.0, costs=[wal(0.8, saved=True), hot(saved=True)]),
        "drop useless (768 KiB): no transaction used it, and without it the WAL per row written is 0.800x "
        "(95 % interval 0.720x to 0.880x, many), the share of updates that stay on their page (HOT) is 70 % "
        "instead of 10 % (many). DROP INDEX useless;",
    ),
    "unsettled": (
        verdict("unsettled", "no evidence", benefits=[benefit("browse", 1.2, "open")], blocks_needed=26),
        "no evidence on unsettled: whether browse needs it is open (1.20x, 95 % interval 1.080x to 1.32x, many); about "
        "26 blocks would decide it.",
    ),
    "quiet": (
        verdict("quiet", "no evidence", scans_per_unit=0.0),
        "no evidence on quiet: no transaction used it, and nothing is shown to be saved.",
    ),
}


@pytest.fixture
def findings() -> Findings:
    """A run with one index of each kind, the last first."""
    return dataclasses.replace(
        example_findings.commit_write(), indexes=[index for index, _ in reversed(CASES.values())]
    )


def test_each_verdict_has_its_sentence_those_to_keep_first(findings: Findings) -> None:
    """The whole texts."""
    words = [plain(sentence) for sentence in index_sentences(findings)]

    assert words[:2] == [CASES["vital"][1], CASES["useless"][1]]
    assert set(words) == {text for _, text in CASES.values()}


def test_the_terminal_answers_first_and_shows_cost_beside_benefit(findings: Findings) -> None:
    """80 columns; the sentence comes before any comparison, the table has the saving marked."""
    out = io.StringIO()
    print_report(findings, Console(file=out, width=80), run_directory="RUN", report=None)
    lines = out.getvalue().splitlines()

    assert lines[2].startswith("keep vital: browse takes 4.10x as long without it")
    assert max(map(len, lines)) <= 80
    assert "Indexes: what each costs and gives" in lines
    assert any("0.800x*" in line and "+60.0*" in line for line in lines)


def test_the_page_draws_them_and_gives_the_ddl(findings: Findings) -> None:
    """A figure with a table of its own."""
    page = write_html(findings)

    assert 'id="section-indexes"' in page
    assert "DROP INDEX useless;" in page
    assert "keep" in page


def test_a_run_without_candidates_says_nothing_of_indexes() -> None:
    """No sentence, no figure."""
    findings = example_findings.commit_write()

    assert index_sentences(findings) == []
    assert 'id="section-indexes"' not in write_html(findings)
