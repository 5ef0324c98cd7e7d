"""The page of a server's profile without a browser: valid figures, names as text, figures as the findings say."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

import example_flame
import example_server_profile
import plotly.graph_objects
import pytest

from dbdyno.analysis.server_profile.findings import ServerProfile
from dbdyno.report.html.flame import FlameGraph, frames_of
from dbdyno.report.html.quantity import middle_byte_unit, middle_time_unit
from dbdyno.report.html.server_profile import page

HOSTILE = '</script><script>alert("x")</script>'


def figures(html: str) -> dict[str, dict[str, Any]]:
    """The figures as the page's script will read them, by element."""
    found = re.search(r'<script type="application/json" id="figures">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    return {figure["id"]: figure for figure in json.loads(found[1])}


@pytest.mark.parametrize("profile", [example_server_profile.busy(), example_server_profile.idle()])
def test_every_figure_is_valid(profile: ServerProfile) -> None:
    """plotly's own schema accepts each trace and each layout."""
    for figure in figures(page(profile)).values():
        plotly.graph_objects.Figure(data=figure["data"], layout=figure["layout"])


def test_page_is_one_small_file_without_addresses() -> None:
    """Outside plotly.js nothing names a host, the policy forbids every fetch, and the figures take little room."""
    own = page(example_server_profile.busy()).replace(plotly.offline.get_plotlyjs(), "")
    ids = re.findall(r'\sid="([^"]+)"', own)

    assert "://" not in own
    assert "default-src 'none'" in own
    assert len(own) < 250_000
    assert sorted(set(ids)) == sorted(ids)


def test_names_cannot_leave_their_place() -> None:
    """Users, applications, queries, locks, relations, findings and warnings are text, whatever is in them."""
    html = page(example_server_profile.hostile(HOSTILE))

    assert html.count("<script") == page(example_server_profile.busy()).count("<script")
    assert HOSTILE not in html


def test_findings_come_first_with_evidence_and_the_next_step() -> None:
    """In the order of the findings, before any chart."""
    profile = example_server_profile.busy()
    html = page(profile)
    head = html.partition("<nav")[0]
    sentences = re.findall(r'<li id="finding-\d">\s*<p>(.*?)</p>', head, re.DOTALL)

    assert [
        sentence.replace("<code>", "`").replace("</code>", "`").replace("\u00a0", " ") for sentence in sentences
    ] == [finding.sentence for finding in profile.findings]
    assert "waiting for a flush: 108\u00a0s (103 to 114)" in head
    assert "of the database time: 60.0\u00a0% (57.0 to 63.0)" in head
    assert "<b>Next:</b> Find out what its client does" in head
    assert ">0\u00a0s at stake" not in head


def test_figures_that_lie_far_apart_have_the_unit_of_the_middle() -> None:
    """One call of 3 s makes no zeros of those of 20 us; nothing at all has some unit."""
    assert middle_time_unit([3.08e9, 4.1e6, 0.45e6, 22e3, 24e3]).name == "ms"
    assert middle_byte_unit([2**31, 38 * 2**20, 2**20, 8192, 0]).name == "MiB"
    assert middle_time_unit([]).name == "ns"


def test_parts_are_the_findings() -> None:
    """Each bar is the estimate of its part, each whisker its interval; the parts sum to the database time."""
    profile = example_server_profile.busy()
    bars = figures(page(profile))["chart-parts-1"]["data"]
    shown = [part for part in profile.parts if part.ns.estimate]

    assert [bar["x"][0] for bar in bars] == [part.ns.estimate / 1e9 for part in shown]
    assert sum(bar["x"][0] for bar in bars) == pytest.approx(profile.database_time_ns.estimate / 1e9)
    for bar, part in zip(bars, shown, strict=True):
        assert part.ns.high is not None
        assert bar["error_x"]["array"][0] == pytest.approx((part.ns.high - part.ns.estimate) / 1e9)


def test_parts_that_are_not_told_apart_share_a_bracket() -> None:
    """Ranks 4 4, 6 6 and 9 9: three brackets in the margin, and `4 =` in the table."""
    html = page(example_server_profile.busy())
    shapes = figures(html)["chart-parts-1"]["layout"]["shapes"]
    table = html.partition('id="table-parts-figures"')[2].partition("</table>")[0]

    assert sum(shape["type"] == "path" for shape in shapes) == 3
    assert re.findall(r"\d+ =", table) == ["4 =", "4 =", "6 =", "6 =", "9 =", "9 ="]


def test_line_of_the_cpus_is_left_out_where_it_would_press_the_chart_flat() -> None:
    """64 CPUs above 8 sessions: in words instead."""
    profile = example_server_profile.busy()
    many = dataclasses.replace(profile, active_sessions=dataclasses.replace(profile.active_sessions, cpus=64))
    with_line, without = figures(page(profile)), figures(page(many))

    assert {shape["y0"] for shape in with_line["chart-sessions-1"]["layout"]["shapes"]} == {2}
    assert without["chart-sessions-1"]["layout"]["shapes"] == []
    assert "The host has 64 CPUs, which lies above the chart." in page(many)


def test_nothing_to_show_is_said() -> None:
    """An idle server's page has no chart, and a sentence in the place of each."""
    html = page(example_server_profile.idle())

    assert figures(html) == {}
    for words in (
        "Nothing stands out",
        "No session was active at any moment",
        "There was no database time to divide",
        "No query was told apart",
        "No session was seen waiting for a lock",
        "No wait was seen from its beginning to its end",
        "I/O counters did not move",
        "No background process was seen",
        "none: the profile is too short",
    ):
        assert words in html


def test_bars_of_tables_are_to_one_scale() -> None:
    """The longest row's pieces fill the cell, a row with a ninth of its time a ninth of it."""
    html = page(example_server_profile.busy())
    table = html.partition('id="table-by-user"')[2].partition("</table>")[0]
    bars = [
        [float(width) for width in re.findall(r'width="([\d.]+)%"', bar)]
        for bar in re.findall(r'<svg class="bar".*?</svg>', table)
    ]

    assert sum(bars[0]) == pytest.approx(100, abs=2)
    assert sum(bars[1]) == pytest.approx(100 / 9, abs=2)
    assert "LWLock:WALWrite 29 %" in table


def test_a_long_profile_is_merged() -> None:
    """An hour of seconds is drawn in at most 480 steps whose means are those of the hour."""
    profile = example_server_profile.busy()
    sessions = profile.active_sessions
    long = dataclasses.replace(
        sessions,
        from_ns=[step * sessions.step_ns for step in range(3_600)],
        series=[[float(step % 8) for step in range(3_600)] for _ in sessions.series],
        idle_in_transaction=[0.0] * 3_600,
    )
    panel = figures(page(dataclasses.replace(profile, active_sessions=long)))["chart-sessions-1"]
    trace = panel["data"][0]

    assert len(trace["x"]) == 451
    assert (trace["x"][0], trace["x"][-1]) == (0, 3_600)
    assert sum(trace["y"][:-1]) / 450 == pytest.approx(3.5)


def test_frames_of_a_flame_graph_are_read() -> None:
    """Name, meaning, place, width and depth as the core wrote them, the root at the bottom."""
    frames = {frame.name: frame for frame in frames_of(example_flame.svg())}

    assert [(frame.from_us, frame.us, frame.depth) for frame in frames.values()] == [
        (0, 1000, 0), (0, 1000, 1), (0, 750, 2), (750, 250, 2), (750, 250, 3),
    ]  # fmt: skip
    assert frames["ExecHashJoin"].meaning == "joins by <hash> & compares"
    assert frames["IO:WalSync"].meaning is None


def test_meanings_may_stand_beside_the_svg() -> None:
    """A function that the SVG does not explain is explained by the table of meanings."""
    graph = dataclasses.replace(example_flame.graph(), meanings={"PostgresMain": "the loop over a client's requests"})
    html = page(example_server_profile.busy(), [graph])

    assert "PostgresMain: 1.00 ms, 100 %. The loop over a client&#39;s requests" in html


def test_nothing_of_the_svg_but_its_frames_reaches_the_page() -> None:
    """Its script, style and handlers stay behind; a name that looks like markup is text."""
    graph = example_flame.graph()
    html = page(example_server_profile.busy(), [dataclasses.replace(graph, title=HOSTILE)])

    assert "init(evt)" not in html
    assert HOSTILE not in html
    assert "ExecHashJoin: 0.750 ms, 75 %. Joins by &lt;hash&gt; &amp; compares" in html


def test_changes_are_said_and_not_only_coloured() -> None:
    """A frame that grew says by how much of the whole."""
    svg = example_flame.svg().replace("250 microseconds, 25.00%", "250 microseconds, 25.00%; -4.90%", 1)
    html = page(example_server_profile.busy(), [FlameGraph("difference", svg, differential=True)])

    assert "XLogFlush −4.90%" in html
    assert "changed by −4.90% of the whole. Waiting for WAL to be durable" in html
