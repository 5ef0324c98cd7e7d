"""A calibration on a terminal: golden texts, the width of the page, and what is never left out.

A golden text is rewritten with `BLESS=1 pytest tests/report/test_calibration_terminal.py`; read the difference first.
"""

from __future__ import annotations

import dataclasses
import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import synthetic_calibration
from rich.console import Console
from rich.text import Text

from dbdyno.analysis.calibration.findings import Calibration, Knee, Setting
from dbdyno.analysis.findings import Estimate
from dbdyno.report.calibration.fragment import fragment
from dbdyno.report.calibration.terminal import print_calibration, render
from dbdyno.report.calibration.words import knee_sentence

GOLDEN = Path(__file__).parent / "golden"
MAKERS: dict[str, Callable[[], Calibration]] = {
    "calibration-virtual-disk": synthetic_calibration.virtual_disk,
    "calibration-plain-disk": synthetic_calibration.plain_disk,
    "calibration-through-database": synthetic_calibration.through_database,
    "calibration-nothing": synthetic_calibration.nothing,
    "calibration-read-only": synthetic_calibration.read_only,
}


def printed(calibration: Calibration) -> str:
    """The whole report as text."""
    return render(calibration, directory="CALIBRATION", page="CALIBRATION/report.html")


@pytest.mark.parametrize("case", MAKERS)
def test_golden_text(case: str) -> None:
    """The whole text, to the blank."""
    path = GOLDEN / f"{case}.txt"
    text = printed(MAKERS[case]())
    if os.environ.get("BLESS") == "1":
        path.write_text(text, encoding="utf-8")

    assert path.read_text(encoding="utf-8") == text, "the report changed: read it, then BLESS=1 to accept"


@pytest.mark.parametrize("case", MAKERS)
def test_no_line_is_wider_than_the_page(case: str) -> None:
    """80 columns, no trailing blanks, no escape codes where there is no terminal."""
    for line in printed(MAKERS[case]()).splitlines():
        assert len(line) <= 80
        assert line == line.rstrip()
        assert line.isprintable()


def test_colour_changes_no_word() -> None:
    """Without the codes it is the same text."""
    calibration = synthetic_calibration.virtual_disk()
    out = io.StringIO()
    print_calibration(calibration, Console(file=out, force_terminal=True, color_system="standard", width=80))

    assert render(calibration).splitlines() == Text.from_ansi(out.getvalue()).plain.splitlines()


def test_the_answer_fits_one_screen() -> None:
    """Verdicts, quality and what was measured stand within the first 24 lines."""
    first = "\n".join(printed(synthetic_calibration.virtual_disk()).splitlines()[:24])

    assert "1. The knee is at 4 reads in flight" in first
    assert "5. No flush method is better than fdatasync" in first
    assert "Quality: indicative" in first
    assert "Measured: 2026-11-22 14:03 UTC" in first


def test_a_line_without_confidence_is_a_comment() -> None:
    """Whoever includes the file unread gets only what was found."""
    lines = fragment(synthetic_calibration.virtual_disk())
    effective = [line for line in lines if line and not line.startswith("#")]

    assert effective == ["effective_io_concurrency = 24", "random_page_cost = 1.9"]
    assert "#commit_delay = 60" in lines


def test_no_text_leaves_its_comment() -> None:
    """A measured value with line breaks cannot become a setting."""
    off = "\nfsync = off"
    evil = Setting("commit_delay", f"1{off}", "none", f"a{off}", f"b\n{off}", "0", f"c\r{off}")
    calibration = dataclasses.replace(synthetic_calibration.virtual_disk(), settings=(evil,))

    assert [line for line in fragment(calibration) if line and not line.startswith("#")] == []


@pytest.mark.parametrize(
    ("knee", "words"),
    [
        (Knee("max X/R", 4, 4, 4, Estimate(10.0, None, None)), "max X/R: depth 4, 10.0 IOPS; the load with the most"),
        (Knee("max X/R", 4, 0, 8, Estimate(10.0, 9.0, 11.0)), "depth 4 (perhaps none to 8), 10.0 IOPS (9.00 to 11.0)"),
        (
            Knee("max X", 128, 64, 128, Estimate(10.0, 9.0, 11.0)),
            "no greater depth was measured, so it may",
        ),
        (Knee("largest depth with p99 <= 2000000 ns", 4, 4, 4, Estimate(1.0, None, None)), "with p99 <= 2 ms: depth 4"),
    ],
)
def test_a_knee_says_its_formula_and_how_well_it_is_known(knee: Knee, words: str) -> None:
    """No knee without a formula, no bound without saying that it is one."""
    assert words in knee_sentence(knee, synthetic_calibration.virtual_disk())
