"""The page of compared calibrations in a real browser: silent, offline, every figure drawn, nothing cut off."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest
from compared_calibrations import device, recorded, usual
from opened import Show, silent_offline_and_in_its_place

from dbdyno.analysis.calibrations_compared.compare import compare_calibrations
from dbdyno.calibration.budget import QUICK
from dbdyno.report.html import calibrations as page

pytestmark = pytest.mark.browser

HOSTILE = '</script><script>document.title = "broken"</script> "q" & %{x} $x$ {{ 1 + 1 }}'


def two() -> str:
    """Two, one of them with a hostile name."""
    hostile = dataclasses.replace(recorded(2, device(1.25), QUICK, directory=HOSTILE), name=HOSTILE)
    return page.page(compare_calibrations([recorded(1, budget=QUICK), hostile]))


def many() -> str:
    """Eight, the last one slower."""
    return page.page(compare_calibrations([*usual(7), recorded(9, device(1.25))]))


@pytest.mark.parametrize("html", [two, many], ids=["two", "eight"])
def test_page_is_silent_offline_and_in_its_place(show: Show, html: Callable[[], str]) -> None:
    """At both widths."""
    silent_offline_and_in_its_place(show, html())


def test_marks_and_bars_are_the_ratios_and_their_intervals(show: Show) -> None:
    """What the chart draws is what the findings hold."""
    found = compare_calibrations([*usual(5), recorded(9, device(1.25))])
    drawn = show(page.page(found), 1280).page.evaluate("() => document.querySelector('#chart-ratios-1').data[0]")
    idle = found.figures[0]

    assert drawn["name"] == "idle read, p50"
    assert drawn["x"] == [idle.ratio.estimate]
    assert idle.ratio.high is not None
    assert drawn["x"][0] + drawn["error_x"]["array"][0] == pytest.approx(idle.ratio.high)
