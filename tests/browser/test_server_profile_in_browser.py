"""The page of a server's profile in a real browser: silent, offline, every figure drawn, nothing cut off."""

from __future__ import annotations

import example_flame
import example_server_profile
import pytest
from opened import DESKTOP, PHONE, Show, silent_offline_and_in_its_place

from dbdyno.report.html.server_profile import page

pytestmark = pytest.mark.browser

HOSTILE = '</script><script>document.title = "broken"</script> "q" & %{x} $x$ {{ 1 + 1 }}'
PROFILES = {
    "busy": example_server_profile.busy(),
    "idle": example_server_profile.idle(),
    "hostile": example_server_profile.hostile(HOSTILE),
}

# plotly places what it draws to a hundredth of a pixel.
PIXELS = 1e-4
# The tops of the areas as they lie on the screen, less the tops of those beneath them.
STACKED = """() => {
    const plot = document.querySelector('#chart-sessions-1'), scale = plot._fullLayout.yaxis;
    const traces = plot.calcdata.filter(points => points[0].trace.stackgroup);
    return traces.map((points, place) => [points[0].trace.name, points.slice(0, -1)
        .map((point, step) => scale.p2d(scale.d2p(point.y)) - (place ? traces[place - 1][step].y : 0))
        .reduce((sum, height) => sum + height, 0)]);
}"""


@pytest.mark.parametrize("name", PROFILES)
def test_page_is_silent_offline_and_in_its_place(show: Show, name: str) -> None:
    """At both widths."""
    silent_offline_and_in_its_place(show, page(PROFILES[name]))


def test_stacked_areas_are_the_active_sessions(show: Show) -> None:
    """What plotly stacked, multiplied by the length of a step, is the findings' database time, class by class."""
    profile = PROFILES["busy"]
    sessions = profile.active_sessions
    drawn = dict(show(page(profile), DESKTOP).page.evaluate(STACKED))

    assert list(drawn)[:2] == ["CPU", "run queue"]
    assert drawn == {
        name: pytest.approx(sum(row), rel=PIXELS) for name, row in zip(sessions.classes, sessions.series, strict=True)
    }
    assert sum(drawn.values()) * sessions.step_ns == pytest.approx(
        profile.database_time_ns.estimate - profile.profile_ns.unaccounted, rel=PIXELS
    )


FLAME = """() => [...document.querySelectorAll('#flame-1 i')].map(frame => {
    const box = frame.getBoundingClientRect(), whole = document.querySelector('#flame-1').getBoundingClientRect();
    return [frame.textContent, Math.round(whole.bottom - box.bottom), box.width / whole.width];
})"""


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
def test_flame_graph_is_drawn_to_scale_and_speaks(show: Show, width: int) -> None:
    """Frames of one depth share the width as their times share the whole; a tap says time and meaning, then widens."""
    opened = show(page(PROFILES["busy"], [example_flame.graph()]), width)
    frames = opened.page.evaluate(FLAME)
    widths = {name: share for name, _, share in frames}
    join = opened.page.locator("#flame-1 i", has_text="ExecHashJoin")
    join.click()

    assert widths["all"] == pytest.approx(1, abs=1e-3)
    assert widths["ExecHashJoin"] == pytest.approx(0.75, abs=1e-3)
    assert widths["IO:WalSync"] == pytest.approx(0.25, abs=1e-3)
    assert widths["ExecHashJoin"] + widths["XLogFlush"] == pytest.approx(widths["PostgresMain"], abs=1e-3)
    said = opened.page.locator("#flame-1-said").inner_text()
    widened = {name: share for name, _, share in opened.page.evaluate(FLAME)}

    assert said == "ExecHashJoin: 0.750 ms, 75 %. Joins by <hash> & compares"
    assert widened["ExecHashJoin"] == pytest.approx(1, abs=1e-3)
    assert opened.page.locator("#flame-1 i", has_text="IO:WalSync").is_hidden()
    assert opened.complaints == []
    assert opened.page.evaluate("document.documentElement.scrollWidth") == width
