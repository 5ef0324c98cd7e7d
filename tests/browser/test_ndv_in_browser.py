"""The page of a distinct count in a real browser: silent, offline, every figure drawn, nothing cut off."""

from __future__ import annotations

import dataclasses

import example_counts
import pytest
from opened import DESKTOP, PHONE, Show, silent_offline_and_in_its_place

from dbdyno.analysis.ndv.findings import NdvFindings
from dbdyno.report.html.ndv import page

pytestmark = pytest.mark.browser

HOSTILE = '</script><script>document.title = "broken"</script> "q" & %{x} $x$ {{ 1 + 1 }}'
# Where the planner's marks lie on their axes, in pixels, by name.
PLACES = """() => [...document.querySelectorAll('[id^="chart-errors-"]')].flatMap(plot => plot.calcdata
    .filter(points => points[0].trace.mode === 'markers')
    .map(points => [points[0].trace.name, plot._fullLayout.xaxis.c2p(points[0].x, true)]))"""


def far_off() -> NdvFindings:
    """One column off by a hundred million, which makes the longest ticks."""
    found = example_counts.by_the_server()
    ends = {"error_factor": 1e8, "error_factor_low": 0.98e8, "error_factor_high": 1.02e8}
    return dataclasses.replace(found, columns=[dataclasses.replace(found.columns[0], **ends), *found.columns[1:]])


COUNTS = {
    "wrong": example_counts.wrong(),
    "wide": example_counts.wide(),
    "far off": far_off(),
    "hostile": example_counts.hostile(HOSTILE),
}


@pytest.mark.parametrize("name", COUNTS)
def test_page_is_silent_offline_and_in_its_place(show: Show, name: str) -> None:
    """At both widths."""
    silent_offline_and_in_its_place(show, page(COUNTS[name]))


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
def test_the_answer_is_on_the_first_screen(show: Show, width: int) -> None:
    """With the worst of the columns, before any scrolling."""
    opened = show(page(COUNTS["wrong"]), width).page
    first = opened.locator("#answer .findings li").first

    assert (
        opened.locator("#answer-sentence").inner_text().startswith("The planner's distinct count is wrong for 3 of 5")
    )
    assert "42x too low" in first.inner_text()
    assert first.bounding_box()["y"] < 450  # type: ignore[index]


def test_marks_lie_where_their_factors_are(show: Show) -> None:
    """Too low left of the line, too high right of it, and the right ones upon it."""
    places = dict(show(page(COUNTS["wrong"]), PHONE).page.evaluate(PLACES))

    assert places["(status, article)"] < places["customer"] < places["id"] == places["status"] < places["article"]
    assert all(0 < pixels < PHONE for pixels in places.values())


def test_one_click_chooses_the_fix(show: Show) -> None:
    """What is then copied are the statements, to the letter; likewise the undo."""
    found = COUNTS["wrong"]
    opened = show(page(found), DESKTOP).page

    for name, script in (("fix", found.fix_script), ("undo", found.undo_script)):
        opened.locator(f"#{name}").click()
        assert script is not None
        assert opened.evaluate("getSelection().toString()").rstrip().splitlines() == script.splitlines()[1:]


def test_all_can_be_reached_by_keyboard(show: Show) -> None:
    """Tab goes to the further columns, Enter opens them; tables can be scrolled."""
    opened = show(page(COUNTS["wide"]), PHONE).page
    more = opened.locator("#answer summary")
    opened.keyboard.press("Tab")

    assert more.evaluate("summary => summary === document.activeElement")
    assert not opened.locator("#more-findings").is_visible()
    opened.keyboard.press("Enter")
    assert opened.locator("#more-findings li").first.is_visible()
    opened.locator(".scroll:has(#table-columns)").focus()
    opened.keyboard.press("ArrowRight")
    opened.wait_for_function("() => document.querySelector('.scroll:has(#table-columns)').scrollLeft > 0")
