"""The page of a calibration in a real browser: silent, offline, every figure drawn, nothing cut off."""

from __future__ import annotations

import pytest
import synthetic_calibration
from opened import DESKTOP, PHONE, Show, silent_offline_and_in_its_place

from dbdyno.report.calibration.fragment import fragment
from dbdyno.report.html.calibration import page

pytestmark = pytest.mark.browser

HOSTILE = '</script><script>document.title = "broken"</script> "q" & %{x} $x$ {{ 1 + 1 }}'
CALIBRATIONS = {
    "virtual disk": synthetic_calibration.virtual_disk(),
    "plain disk": synthetic_calibration.plain_disk(),
    "through a database": synthetic_calibration.through_database(),
    "nothing": synthetic_calibration.nothing(),
    "hostile": synthetic_calibration.hostile(HOSTILE),
}
PICTURES = """[...document.querySelectorAll('#section-latencies .heatmaplayer image')]
    .map(picture => picture.getBoundingClientRect())"""


@pytest.mark.parametrize("name", CALIBRATIONS)
def test_page_is_silent_offline_and_in_its_place(show: Show, name: str) -> None:
    """At both widths."""
    silent_offline_and_in_its_place(show, page(CALIBRATIONS[name]))


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
def test_modes_knee_and_cache_are_to_be_seen(show: Show, width: int) -> None:
    """The verdicts on the first screen, both modes in the table, the letters of the knees, the edge of the cache."""
    opened = show(page(CALIBRATIONS["virtual disk"]), width).page

    assert "The knee is at 4 reads in flight" in opened.locator("#verdict-1").inner_text()
    assert opened.locator("#verdict-1").bounding_box()["y"] < 900  # type: ignore[index]
    assert opened.locator("#table-modes tbody tr").count() == 2
    assert "clustered" in opened.locator("#table-modes tbody tr").nth(1).inner_text()
    assert "they come in bursts" in opened.locator("#modes-words").inner_text()
    assert opened.locator("#chart-curve-1 .annotation-text").all_text_contents() == ["A B", "C"]
    assert opened.locator("#chart-cache-1 .annotation-text").all_text_contents() == ["cache: 64 MiB or more"]
    assert "1.72x as long" in opened.locator("#section-cache .words").inner_text()


def test_both_heat_maps_of_a_pair_are_drawn(show: Show) -> None:
    """Frequency and intensity over load, and over time, each with its picture of cells."""
    opened = show(page(CALIBRATIONS["virtual disk"]), DESKTOP).page
    sizes = opened.evaluate(PICTURES)

    assert len(sizes) == 4
    assert all(size["width"] > 300 and size["height"] > 100 for size in sizes)


def test_one_click_chooses_the_settings(show: Show) -> None:
    """What is then copied is the fragment, to the letter."""
    opened = show(page(CALIBRATIONS["virtual disk"]), DESKTOP).page
    opened.locator("#settings").click()

    assert opened.evaluate("getSelection().toString()").rstrip().splitlines() == fragment(CALIBRATIONS["virtual disk"])
