"""The HTML report in a real browser: silent, offline, every chart drawn, nothing cut off at either width."""

from __future__ import annotations

import dataclasses
from typing import Any

import example_findings
import example_tail
import pytest
from opened import DESKTOP, PHONE, Show, silent_offline_and_in_its_place

from dbdyno.analysis.findings import Findings
from dbdyno.report.html import write_html

pytestmark = pytest.mark.browser

SCRIPT = '<script>document.title = "broken"</script>'
LONG = "a level name that somebody wrote with great care and that goes on for a while"
MARKUP = '"q" & <b>bold</b> %{x} $x$ {{ 1 + 1 }}'

# How many elements of a class that plotly gives to data have a size; an interval is a line without height.
COUNT = """(selector) => Object.fromEntries([...document.querySelectorAll('.plot')].map(plot => [
    plot.id.replace('chart-', ''),
    [...plot.querySelectorAll(selector)].filter(mark => {
        const box = mark.getBoundingClientRect();
        return box.width > 0 && (box.height > 0 || selector.includes('errorbar'));
    }).length
]).filter(([id, count]) => count > 0))"""
BARS, POINTS, LINES = ".bars .point path", ".scatterlayer .points path", ".scatterlayer .lines path"
VIOLINS, INTERVALS = "path.violin", ".errorbar path"

WIDE = "() => document.querySelector('#chart-profile-1 .main-svg').getBoundingClientRect().width > 700"


def hostile() -> Findings:
    """Names that would break a careless page, and a schedule in which things went wrong."""
    names = {"io-bound": SCRIPT, "wait-batch": LONG, "nowait-batch": MARKUP}
    findings = example_findings.renamed(example_findings.commit_write(blocks=40), names)
    schedule = list(findings.schedule)
    schedule[11] = dataclasses.replace(schedule[11], status="failed")
    schedule[80:88] = [dataclasses.replace(cell, status="repeated") for cell in schedule[80:88]]
    schedule[-1] = dataclasses.replace(schedule[-1], status="not_run")
    return dataclasses.replace(findings, schedule=schedule, question=SCRIPT)


FINDINGS = {
    "whole": example_findings.commit_write,
    "smallest": example_findings.smallest,
    "hostile": hostile,
    "evidence": example_findings.order_entry,
    "fixed work": example_findings.fixed_work,
    "tail": example_tail.slow_commits,
}


@pytest.mark.parametrize("name", FINDINGS)
def test_report_is_silent_offline_and_in_its_place(show: Show, name: str) -> None:
    """At both widths."""
    silent_offline_and_in_its_place(show, write_html(FINDINGS[name]()))


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
def test_every_chart_draws_every_figure(show: Show, width: int) -> None:
    """8 arms in 2 groups, 12 blocks: the marks on the page are as many as the figures behind them."""
    page = show(write_html(example_findings.commit_write()), width).page
    drift = {f"drift-{arm}": 12 for arm in range(1, 9)}

    # Of each arm's tail a pair of panels: the parts of two bars, the greatest two parts of their difference.
    tails = dict(zip(range(1, 17, 2), (16, 16, 12, 12, 12, 12, 10, 10), strict=True))
    stacked = {f"tail-{panel}": bars for panel, bars in tails.items()}
    extra = {f"tail-{panel + 1}": 2 for panel in tails}

    assert page.evaluate(COUNT, BARS) == stacked | extra | {"profile-1": 32, "profile-2": 26, "schedule-1": 96}
    assert page.evaluate(COUNT, POINTS) == drift | {
        "effects-1": 3, "effects-2": 3,
        "trial-values-1": 48, "trial-values-2": 48,
        "block-ratios-1": 36, "block-ratios-2": 36,
        "exposure-1": 4, "exposure-2": 4,
    }  # fmt: skip
    assert page.evaluate(COUNT, VIOLINS) == {"trial-values-1": 4, "trial-values-2": 4}
    assert page.evaluate(COUNT, INTERVALS) == dict.fromkeys(stacked, 4) | extra | {
        "profile-1": 6, "profile-2": 8, "effects-1": 3, "effects-2": 3,
    }  # fmt: skip
    assert page.evaluate(COUNT, LINES)["distribution-1"] == 4
    assert page.evaluate(COUNT, LINES)["distribution-2"] == 4


def test_evidence_is_drawn(show: Show) -> None:
    """Four kinds in two groups, three marks an arm; two figures of the database, two bars an arm."""
    page = show(write_html(example_findings.order_entry()), DESKTOP).page
    points, bars = page.evaluate(COUNT, POINTS), page.evaluate(COUNT, BARS)

    assert {name: count for name, count in points.items() if name.startswith("kinds")} == {
        f"kinds-{panel}": 12 for panel in range(1, 9)
    }
    assert [bars["outcomes-1"], bars["outcomes-2"]] == [8, 8]
    assert page.locator("#section-plans details").count() == 2
    page.locator("#section-plans summary").nth(1).click()
    assert page.locator("#section-plans .tree").nth(1).inner_text().splitlines() == [
        "Aggregate",
        "1 row (1 planned) · 1.84\xa0s · pages: 128 hit, 103,872 read",
        "Seq Scan on web_returns",
        "240,000 rows in each of 3 loops (300,000 planned) · 1.70\xa0s · pages: 128 hit, 103,872 read",
        "Filter: (wr_return_amt > 10)",
    ]


def test_tail_lengths_and_statements_are_drawn(show: Show) -> None:
    """Two heat maps, a statement with its bar and one without; a pale bar says in words what it is not."""
    page = show(write_html(example_tail.slow_commits()), DESKTOP).page
    page.locator("#section-statements summary").click()

    assert page.locator("#section-wait-lengths .hm image").count() == 2
    assert page.locator("#table-statements tbody tr:not(.group)").count() == 2
    assert page.locator("#table-statements .bar").count() == 1
    assert page.locator("#section-tail .words li").nth(2).inner_text() == (
        "io-bound/nowait-immediate: fewer than 1,000 units: no tail to speak of"
    )
    assert "not told from 0" in " ".join(page.locator("#chart-tail-4 .annotation-text").all_text_contents())
    assert "pale: the difference is not told from zero" in page.locator("#keys-tail").inner_text()


def test_smallest_report_draws_without_intervals(show: Show) -> None:
    """One block and two arms: no interval, no exposure, and no empty chart either."""
    page = show(write_html(example_findings.smallest()), DESKTOP).page

    assert page.evaluate(COUNT, POINTS) == {
        "effects-1": 1, "trial-values-1": 2, "drift-1": 1, "drift-2": 1, "block-ratios-1": 1,
    }  # fmt: skip
    assert page.evaluate(COUNT, INTERVALS) == {}
    assert page.evaluate(COUNT, BARS) == {"profile-1": 14, "schedule-1": 2}
    assert page.locator("#section-exposure").count() == 0


def test_failed_and_repeated_trials_are_marked(show: Show) -> None:
    """One failed, eight of a repeated block; the trial that was not run has no cell."""
    page = show(write_html(hostile()), DESKTOP).page

    assert page.evaluate(COUNT, POINTS)["schedule-1"] == 9
    assert page.evaluate(COUNT, BARS)["schedule-1"] == 319


def test_names_from_files_are_shown_as_they_are(show: Show) -> None:
    """Markup, quotes, templates and dollar signs in names are text everywhere: in tables, labels, keys and hovers."""
    page = show(write_html(hostile()), DESKTOP).page
    page.locator("#chart-profile-1 .bars .point path").nth(3).hover(force=True)

    assert page.title() == "commit-write · dbdyno"
    assert page.locator(".question").inner_text() == SCRIPT
    assert page.locator("#table-arms .group").first.inner_text() == SCRIPT
    assert MARKUP in page.locator("#table-arms tbody th").all_inner_texts()
    assert MARKUP in page.locator("#keys-distribution").inner_text()
    assert MARKUP in page.locator("#chart-profile-1 .annotation-text").all_text_contents()
    assert MARKUP in str(page.locator("#chart-profile-1 .hovertext").text_content())


def test_charts_follow_the_width_of_the_page(show: Show) -> None:
    """A telephone that is turned gets charts of the new width."""
    page = show(write_html(example_findings.commit_write()), PHONE).page
    page.set_viewport_size({"width": 800, "height": 375})
    page.wait_for_function(WIDE)

    assert page.evaluate("document.documentElement.scrollWidth") == 800


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_stand_out_from_the_page(show: Show, scheme: Any) -> None:
    """Labels inside charts take the page's ink in the light and in the dark."""
    page = show(write_html(example_findings.smallest()), DESKTOP).page
    page.emulate_media(color_scheme=scheme)
    label = page.locator("#chart-profile-1 .annotation-text").first.evaluate("text => getComputedStyle(text).fill")
    ink = page.evaluate("getComputedStyle(document.body).color")

    assert label == ink
    assert ink == {"light": "rgb(27, 31, 36)", "dark": "rgb(228, 232, 236)"}[scheme]
