"""The page of compared runs in a real browser: silent, offline, every figure drawn, nothing cut off."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable

import pytest
from compared_runs import recorded
from opened import Show, silent_offline_and_in_its_place

from dbdyno.analysis.runs_compared.compare import compare_runs
from dbdyno.analysis.runs_compared.history import runs_history
from dbdyno.analysis.runs_compared.record import Recorded
from dbdyno.report.html import runs as page
from dbdyno.report.runs_compared.terminal import Places

pytestmark = pytest.mark.browser

HOSTILE = '</script><script>document.title = "broken"</script> "q" & %{x} $x$ {{ 1 + 1 }}'
PLOTTED = "() => document.querySelector('#chart-runs-1').data[0]"


def hostile(one: Recorded) -> Recorded:
    """A run whose names are not harmless."""
    run = json.loads(json.dumps(one.run))
    run["run_id"] = run["question"] = HOSTILE
    return dataclasses.replace(one, run=run)


def two() -> str:
    """Two runs, one of them with hostile names."""
    runs = [recorded(1), hostile(recorded(2))]
    return page.comparison_page(compare_runs(*runs), runs_history(runs), Places([HOSTILE, "b"], [False, True]))


def many(count: int) -> str:
    """So many runs of two arms."""
    return page.history_page(runs_history([recorded(seed, arms=2, blocks=6) for seed in range(1, count + 1)]))


@pytest.mark.parametrize("html", [two, lambda: many(6), lambda: many(20)], ids=["two", "six", "twenty"])
def test_page_is_silent_offline_and_in_its_place(show: Show, html: Callable[[], str]) -> None:
    """At both widths."""
    silent_offline_and_in_its_place(show, html())


def test_marks_and_bars_are_the_estimates_and_their_intervals(show: Show) -> None:
    """What the chart draws is what the findings hold."""
    history = runs_history([recorded(seed, arms=2, blocks=6) for seed in (1, 2, 3)])
    drawn = show(page.history_page(history), 1280).page.evaluate(PLOTTED)
    values = [value for value in history.arms[0].values if value is not None]

    assert drawn["y"] == [value.estimate for value in values]
    assert [y + up for y, up in zip(drawn["y"], drawn["error_y"]["array"], strict=True)] == pytest.approx(
        [value.high for value in values]
    )
    assert [y - down for y, down in zip(drawn["y"], drawn["error_y"]["arrayminus"], strict=True)] == pytest.approx(
        [value.low for value in values]
    )
