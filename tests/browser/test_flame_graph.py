"""A flame graph of a query that scans, joins and sorts, opened in a browser."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

sys.path.insert(0, str(Path(__file__).parent.parent / "server"))

from query_stacks import busy

from dbdyno import engine
from dbdyno.analysis.findings import Stacks
from dbdyno.analysis.stacks import stacks_of
from dbdyno.report.html.flame import drawn
from dbdyno.report.html.flame_svg import flame_graph_of, flame_svg
from dbdyno.targets.embedded import EmbeddedServer

pytestmark = [pytest.mark.browser, pytest.mark.server, pytest.mark.timed]

MEASURED = {"cpu": 812_345_678.0, "run_queue": 31_000_100.0, "asleep_no_wait_event": 1_234.0}

FRAMES = """() => [...document.querySelectorAll('#frames > g')].map(group => ({
    title: group.querySelector('title').textContent,
    us: Number(group.querySelector('rect').getAttribute('fg:w')),
    width: group.querySelector('rect').getBoundingClientRect().width,
    top: group.querySelector('rect').getBoundingClientRect().top,
}))"""


@pytest.fixture(scope="module")
def stacks() -> Stacks:
    """A second of the query, as wide as a profile that we know."""
    with EmbeddedServer(settings={"max_connections": 20}) as server, busy(server) as pid:
        spec = {"pids": [pid], "postmaster_pid": server.postmaster_pid, "seconds_ns": 10**9, "frequency_hz": 199}
        record = engine.record_stacks(spec)
    found = stacks_of([record], MEASURED)
    assert found is not None
    return found


def test_the_widths_add_up_to_the_measured_time_and_frames_mean_something(
    browser: Browser, tmp_path: Path, stacks: Stacks
) -> None:
    """The root is as wide as the time measured, each row adds up to no more, and functions carry their meaning."""
    file = tmp_path / "flame.svg"
    file.write_text(flame_svg("scan, join and sort", stacks), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(file.as_uri())
    page.wait_for_function("() => [...document.querySelectorAll('#frames > g text')].some(text => text.textContent)")
    frames: list[dict[str, Any]] = page.evaluate(FRAMES)
    page.locator("#frames > g", has=page.locator("title", has_text="ExecHashJoin:")).first.click()
    page.close()

    root = max(frames, key=lambda frame: frame["top"])
    assert root["us"] == round(sum(MEASURED.values()) / 1e3) == stacks.total_us
    rows: dict[float, tuple[int, float]] = {}
    for frame in frames:
        us, width = rows.get(frame["top"], (0, 0.0))
        rows[frame["top"]] = (us + frame["us"], width + frame["width"])
    assert all(us <= root["us"] and width <= root["width"] * 1.001 for us, width in rows.values())
    titles = [frame["title"] for frame in frames]
    for function in ("ExecHashJoin: hash join", "ExecSort: sorts rows", "PostgresMain: a session"):
        assert any(title.startswith(function) for title in titles), titles
    assert all(re.search(r" \([\d,]+ microseconds, [\d.]+%\)$", title) for title in titles)
    assert any(re.match(r"(heap\w+|SeqNext|ExecSeqScan\w*): ", title) for title in titles)
    assert complaints == []


def test_the_page_draws_the_same_graph(stacks: Stacks) -> None:
    """The boxes of the HTML report are read from the graph: the same whole, the same frames, with meanings."""
    boxes = drawn(flame_graph_of("t", stacks), 1).boxes

    # A function may be reached on several ways, and has a box on each.
    joins = [box for box in boxes if box.name == "ExecHashJoin"]
    assert sum(box.percent for box in joins) > 10
    assert all("Hash join" in box.said for box in joins)
    [run_queue] = [box for box in boxes if box.name == "[run queue]"]
    assert run_queue.percent == pytest.approx(100 * 31_000_100 / sum(MEASURED.values()), rel=1e-3)
