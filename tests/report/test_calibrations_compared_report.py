"""Compared calibrations on a terminal: golden texts, the width of the page, each answer that can be.

A golden text is rewritten with `BLESS=1 pytest tests/report`; read the difference before committing it.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from compared_calibrations import CACHE, device, recorded, usual

from dbdyno.analysis.calibrations_compared.compare import compare_calibrations
from dbdyno.analysis.calibrations_compared.findings import (
    CHANGED,
    CHANGED_IN_PART,
    NO_CONCLUSION,
    NOT_BEYOND_USUAL,
    ONE_EACH,
    SAME,
    CalibrationsComparison,
    FigureName,
)
from dbdyno.analysis.findings import Estimate
from dbdyno.calibration.budget import QUICK
from dbdyno.report.calibrations_compared.names import figure_name, interval, value
from dbdyno.report.calibrations_compared.terminal import render
from dbdyno.report.calibrations_compared.words import answer, gate_words, typed
from dbdyno.report.html import calibrations as page
from dbdyno.report.sentences import plain

GOLDEN = Path(__file__).parent / "golden"


@functools.cache
def two() -> CalibrationsComparison:
    """A cache that is gone, slower reads, another kernel, on the whole of a quick calibration."""
    return compare_calibrations(
        [recorded(1, device(cache=CACHE), QUICK, kernel="6.18.4"), recorded(2, device(1.25), QUICK, kernel="6.18.5")]
    )


@functools.cache
def many() -> CalibrationsComparison:
    """Five days, then slower flushes."""
    return compare_calibrations([*usual(5), recorded(9, device(flush_times=1.3))])


@functools.cache
def borrowed() -> CalibrationsComparison:
    """Two, with three others that are kept."""
    return compare_calibrations([recorded(5), recorded(9)], usual(3))


MAKERS: dict[str, Callable[[], CalibrationsComparison]] = {
    "calibrations-two": two,
    "calibrations-many": many,
    "calibrations-borrowed": borrowed,
}


@pytest.mark.parametrize("case", MAKERS)
def test_golden_text(case: str) -> None:
    """The whole text, to the blank; never wider than 80."""
    text = render(MAKERS[case]())
    path = GOLDEN / f"{case}.txt"
    if os.environ.get("BLESS") == "1":
        path.write_text(text, encoding="utf-8")

    assert text == path.read_text(encoding="utf-8")
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (CHANGED, "Did the disk change? Yes, by more than 5 calibrations of this storage differ anyway."),
        (CHANGED_IN_PART, "Did the disk change? In part: no main figure, but some others"),
        (SAME, "Did the disk change? No: every main figure is within 5 % of what it was."),
        (ONE_EACH, "Did the disk change? It cannot be told: there is only one calibration"),
        (NO_CONCLUSION, "Did the disk change? It cannot be told: checks"),
        (NOT_BEYOND_USUAL, "Did the disk change? Not by more than it does from day to day:"),
    ],
)
def test_each_answer_has_its_words(code: str, words: str) -> None:
    """One sentence that begins with the question, the same on the page."""
    found = dataclasses.replace(many(), answer=code)

    assert plain(answer(found)).startswith(words)
    assert render(found).replace("\n", " ").startswith(words)


def test_the_gate_says_what_tripped_it_and_by_what_evidence() -> None:
    """One line each."""
    assert gate_words(many()).startswith("gate: 6 is worse than 1 to 5: fdatasync, p50 1.")
    assert gate_words(borrowed()) == "gate: holds: no verdict of 3 main figures is worse"
    assert "day to day is not known" in gate_words(two())


def test_figures_are_named_and_written_with_their_units() -> None:
    """What is beyond all that could be said is not printed as if it were known."""
    large = FigureName("sizes", "bytes_per_s", {"io_bytes": 1 << 20, "depth": 8, "sequential": True})

    assert figure_name(large) == "1 MiB in order, 8"
    assert (value(large, 9.4e8), value(large, 1.27e9)) == ("940 MB/s", "1.27 GB/s")
    assert value(FigureName("idle", "p50_ns", {}), 330_000.0) == "330 us"
    assert figure_name(FigureName("group_commit", "commits_per_s", {"writers": 1})) == "1 writer"
    assert interval(Estimate(1.0, 1e-7, 1e9)) == "[<0.01, >100]"
    assert interval(Estimate(1.0, None, None)) == "-"


def test_a_long_command_is_broken_so_that_it_can_be_pasted() -> None:
    """A backslash at the end of each line but the last."""
    assert typed(["a", "b"]) == ("dbdyno compare a b",)
    assert typed(["a" * 40, "b" * 40]) == ("dbdyno compare \\", f"  {'a' * 40} \\", f"  {'b' * 40}")


def test_the_page_says_the_same_and_draws_every_figure() -> None:
    """Answer, warnings, a row for each figure, what to type."""
    found = many()
    html = page.page(found)

    assert "by more than 5 calibrations of this storage differ anyway" in html
    assert html.count('id="chart-courses-') == len(found.courses) == 3
    assert all(figure_name(one.figure) in html for one in found.figures)
    assert "few_calibrations" in html
    assert 'id="chart-courses-' not in page.page(two())
