"""The HTML report without a browser: one offline file, valid figures, names as text, figures as the findings say."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

import example_findings
import example_tail
import plotly.graph_objects
import pytest

from dbdyno.analysis.findings import ArmTrial, Bin, Estimate, Findings
from dbdyno.report.html import evidence_tables, write_html
from dbdyno.report.html.arrangement import arrange
from dbdyno.report.html.chart import literal
from dbdyno.report.html.charts.distribution import outline
from dbdyno.report.html.charts.drift import course
from dbdyno.report.html.heat_map import Lengths, heat_panel
from dbdyno.report.html.plan_tree import Node, tree
from dbdyno.report.html.rows import lay_out
from dbdyno.report.html.scale import ratio_axis, time_axis
from dbdyno.report.html.table import Cell, Column, Section, Table
from dbdyno.report.html.typeset import typeset

HOSTILE = '</script><script>alert("x")</script>'


def figures(html: str) -> list[dict[str, Any]]:
    """The figures as the page's script will read them."""
    found = re.search(r'<script type="application/json" id="figures">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    parsed: list[dict[str, Any]] = json.loads(found[1])
    return parsed


MAKERS = (
    example_findings.commit_write,
    example_findings.smallest,
    example_findings.order_entry,
    example_findings.fixed_work,
    example_tail.slow_commits,
)


@pytest.mark.parametrize("findings", [make() for make in MAKERS])
def test_every_figure_is_valid(findings: Findings) -> None:
    """plotly's own schema accepts each trace and each layout, so no misspelt key is silently ignored."""
    for figure in figures(write_html(findings)):
        plotly.graph_objects.Figure(data=figure["data"], layout=figure["layout"])


def test_page_is_one_file_without_addresses() -> None:
    """Outside plotly.js nothing names a host, plotly.js stands there once, and the policy forbids every fetch."""
    html = write_html(example_findings.commit_write())
    own = html.replace(plotly.offline.get_plotlyjs(), "")

    assert len(own) == len(html) - len(plotly.offline.get_plotlyjs())
    assert "://" not in own
    assert "default-src 'none'" in own
    assert len(own) < 500_000


def test_every_figure_has_its_element() -> None:
    """Each figure's id is the id of exactly one element, and no id is used twice."""
    html = write_html(example_findings.commit_write())
    page = html.replace(plotly.offline.get_plotlyjs(), "")
    ids = re.findall(r'\sid="([^"]+)"', page)

    assert sorted(set(ids)) == sorted(ids)
    assert {figure["id"] for figure in figures(html)} == {one for one in ids if one.startswith("chart-")}


def test_names_cannot_leave_their_place() -> None:
    """A level named like markup ends neither the script with the figures nor the page's own text."""
    names = {"wait-batch": HOSTILE}
    plain = write_html(example_findings.commit_write())
    html = write_html(example_findings.renamed(example_findings.commit_write(), names))

    assert html.count("<script") == plain.count("<script")
    assert HOSTILE not in html
    assert "&lt;/script&gt;&lt;script&gt;alert(&#34;x&#34;)&lt;/script&gt;" in html


def test_names_in_the_evidence_cannot_leave_their_place() -> None:
    """Scripts, outcomes, plans, checks, log lines and DDL are text, whatever is in them."""
    findings = example_findings.order_entry()
    arm = findings.arms[1]
    hostile = dataclasses.replace(
        arm,
        by_script=[dataclasses.replace(kind, script=HOSTILE + kind.script) for kind in arm.by_script],
        outcomes=[dataclasses.replace(outcome, name=HOSTILE) for outcome in arm.outcomes[:1]],
        plans=[
            dataclasses.replace(arm.plans[0], script=HOSTILE, shape=HOSTILE, explain={"Plan": {"Node Type": HOSTILE}})
        ],
        checks=[dataclasses.replace(arm.checks[0], expected=HOSTILE, seen=HOSTILE)],
        server_log=[HOSTILE],
        sql=HOSTILE,
    )
    html = write_html(dataclasses.replace(findings, arms=[findings.arms[0], hostile, *findings.arms[2:]]))

    assert html.count("<script") == write_html(findings).count("<script")
    assert HOSTILE not in html


def test_profile_bars_are_the_findings() -> None:
    """The bars of an arm sum to its mean response time, in the unit that the axis names."""
    findings = example_findings.commit_write()
    panels = {figure["id"]: figure for figure in figures(write_html(findings))}
    first = findings.arms[0]
    panel = panels["chart-profile-1"]
    total = sum(trace["x"][0] for trace in panel["data"] if trace["type"] == "bar")

    assert panel["layout"]["xaxis"]["title"]["text"] == "ms for one unit of work"
    assert total == pytest.approx(first.profile_total_ns / 1e6, rel=1e-12)


def test_whiskers_stand_at_the_ends_of_their_parts() -> None:
    """The wait for the WAL's lock ends at CPU + run queue + itself, and its whisker reaches over its interval."""
    findings = example_findings.commit_write()
    [trace] = [trace for trace in figures(write_html(findings))[0]["data"] if trace["type"] == "scatter"]
    arm = findings.arms[0]
    assert arm.intervals is not None
    profile, wait = arm.profile_ns, next(part.ns for part in arm.intervals.parts if part.part == "LWLock:WALWrite")
    assert profile.cpu is not None
    assert profile.run_queue is not None
    assert wait.high is not None

    assert trace["x"][0] * 1e6 == pytest.approx(profile.cpu + profile.run_queue + wait.estimate)
    assert trace["error_x"]["array"][0] * 1e6 == pytest.approx(wait.high - wait.estimate)


def test_tail_is_drawn_as_the_findings_say() -> None:
    """Both bars are as long as the response times of their units; the extra time is a bar with its interval."""
    findings = example_tail.slow_commits()
    panels = {figure["id"]: figure for figure in figures(write_html(findings))}
    tail, open_tail = findings.arms[0].tail, findings.arms[1].tail
    assert tail is not None
    assert open_tail is not None
    bars = [trace for trace in panels["chart-tail-1"]["data"] if trace["type"] == "bar"]
    extra, pale = tail.extra[0], open_tail.extra[1]
    drawn, faint = panels["chart-tail-2"]["data"][0], panels["chart-tail-4"]["data"][1]
    assert extra.ns.high is not None

    assert [sum(trace["x"][row] for trace in bars) * 1e6 for row in (0, 1)] == pytest.approx(
        [tail.slow.response_time_ns, tail.median.response_time_ns]
    )
    assert drawn["x"][0] * 1e6 == pytest.approx(extra.ns.estimate)
    assert drawn["error_x"]["array"][0] * 1e6 == pytest.approx(extra.ns.high - extra.ns.estimate)
    assert pale.told is False
    assert faint["marker"]["color"].startswith("rgba")


def test_heat_map_holds_every_wait() -> None:
    """The counts behind the colours add up to the waits that were seen, each in its step and decade."""
    findings = example_tail.slow_commits()
    panels = {figure["id"]: figure for figure in figures(write_html(findings))}
    lengths = findings.arms[0].wait_lengths
    assert lengths is not None
    [cells] = panels["chart-wait-lengths-1"]["data"]
    counts = [[0 if z is None else round(10**z) for z in row] for row in cells["z"]]
    event = lengths.events[1]

    assert cells["name"] == event.event
    assert sum(map(sum, counts)) == 2_000
    for step, place, count in event.cells:
        assert counts[place - cells["y"][0]][step] == count


def test_long_heat_map_is_merged() -> None:
    """An hour of seconds becomes at most 120 columns, and no wait is lost."""
    cells = [[step, 60, 1] for step in range(3_600)]
    [trace] = heat_panel(Lengths("t", "IO:WalSync", 3_600, 10**9, 10, 1e5, cells)).traces

    assert len(trace["z"][0]) == 120
    assert [round(10**z) for z in trace["z"][0]] == [30] * 120
    assert (trace["x"][0], trace["x"][-1]) == (0, 3_600)


def test_effects_carry_estimate_and_interval() -> None:
    """Mark and bar of the forest plot are the comparison's figures."""
    findings = example_findings.commit_write()
    panels = {figure["id"]: figure for figure in figures(write_html(findings))}
    effect, trace = findings.comparisons[0].ratio, panels["chart-effects-1"]["data"][0]
    assert effect.low is not None
    assert effect.high is not None

    assert trace["x"] == [effect.estimate]
    assert trace["error_x"]["array"] == [effect.high - effect.estimate]
    assert trace["error_x"]["arrayminus"] == [effect.estimate - effect.low]


def test_run_without_a_measured_arm() -> None:
    """Where nothing was measured the page says so in its sentences and draws the schedule alone."""
    findings = dataclasses.replace(example_findings.commit_write(), arms=[], comparisons=[], blocks_complete=0)
    schedule = [dataclasses.replace(cell, status="failed") for cell in findings.schedule]
    html = write_html(dataclasses.replace(findings, schedule=schedule))

    assert [figure["id"] for figure in figures(html)] == ["chart-schedule-1"]
    assert "No verdict" in html


def test_literal_text_keeps_every_character() -> None:
    """plotly would read tags, entities and TeX."""
    assert literal("<b> & $x$") == "&lt;b&gt; &amp; &#36;x&#36;"


def test_distribution_outline_returns_to_zero_in_gaps() -> None:
    """Shares of the total per bin; a bin that is left out stands at zero."""
    bins = [Bin(100, 200, 1), Bin(400, 800, 3)]
    x, y, _ = outline(bins)

    assert x == [100, 100, 200, 200, 400, 400, 800, 800]
    assert y == [0.0, 0.25, 0.25, 0.0, 0.0, 0.75, 0.75, 0.0]


def test_course_merges_steps_and_keeps_units() -> None:
    """41 steps become 14 of three, the last of two: rates in units per second, at their middles."""
    trial = ArmTrial(7, 7, 0, 0, 10.0, None, 1e6, 100_000_000, [1] * 41, [])
    places, rates = course(trial)

    assert len(places) == 14
    assert rates == pytest.approx([10.0] * 14)
    assert places[0] == pytest.approx(7 + 1.5 / 41)
    assert places[-1] == pytest.approx(7 + 40 / 41)


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.95, 7, ["1x", "2x", "5x"]),
        (0.96, 1.07, ["0.96x", "0.98x", "1x", "1.02x", "1.04x", "1.06x"]),
        (0.01, 20, ["0.01x", "0.1x", "1x", "10x"]),
    ],
)
def test_ratio_ticks_are_round(low: float, high: float, ticks: list[str]) -> None:
    """The coarsest round ratios of which at least three are in sight."""
    assert ratio_axis(low, high)["ticktext"] == ticks


def test_time_ticks_carry_their_unit() -> None:
    """Round times, each in the unit in which people say it."""
    assert time_axis(200_000, 6_000_000)["ticktext"] == ["200 µs", "500 µs", "1 ms", "2 ms", "5 ms"]


def test_labels_share_a_line_only_where_both_fit() -> None:
    """One long label puts all values on lines of their own, so that rows look alike."""
    beside = lay_out([("wait-batch", "3.1 ms")], 20)
    stacked = lay_out([("wait-batch", "3.1 ms"), ("n" * 36, "0.58 ms")], 20)

    assert [note["y"] for note in beside.notes] == [9, 9]
    assert [note["y"] for note in stacked.notes] == [9, 27, 73, 91]
    assert [(row.band_top_px, row.band_bottom_px) for row in stacked.rows] == [(36, 56), (100, 120)]


def test_columns_align_their_points() -> None:
    """Figures are padded behind, so that flush right their points stand beneath each other; words are left alone."""
    column = Column("ms")
    rows = [[Cell("16.4")], [Cell("0.584")], [Cell("1,520")], [Cell("unknown")]]
    aligned = Table("t", [column], [Section(None, rows)]).aligned()
    texts = [row[0].text for row in aligned.sections[0].rows]

    assert texts == ["16.4\u2007\u2007", "0.584", "1,520\u2008\u2007\u2007\u2007", "unknown"]


def test_figures_stay_with_their_units() -> None:
    """No line ends between a number and what it counts."""
    assert typeset("rose from 3.98 to 117 us (95 % of 2 sessions)") == (
        "rose from 3.98 to 117\u00a0µs (95\u00a0% of 2 sessions)"
    )


def test_words_between_backquotes_are_code() -> None:
    """The names of keys and commands in warnings; anything else that looks like markup stays text."""
    assert typeset("use a longer `warm_up` <b>") == "use a longer <code>warm_up</code> &lt;b&gt;"


def test_small_waits_are_drawn_together_and_listed_apart() -> None:
    """A wait under half a percent everywhere has no key of its own, but a row of the table and its share of the bar."""
    findings = example_findings.commit_write()
    first = findings.arms[0]
    waits = first.profile_ns.waits | {"LWLock:A": 0.004 * first.profile_total_ns, "LWLock:B": 10.0}
    profile = dataclasses.replace(first.profile_ns, waits=waits)
    arms = [dataclasses.replace(first, profile_ns=profile, profile_total_ns=profile.total), *findings.arms[1:]]
    html = write_html(dataclasses.replace(findings, arms=arms))
    bars = {trace["name"]: trace["x"][0] for trace in figures(html)[0]["data"] if trace["type"] == "bar"}
    small = waits["LWLock:A"] + waits["LWLock:B"] + waits["IO:WalWrite"]

    assert "LWLock:A" not in bars
    assert bars["other waits, each under 0.5 %"] * 1e6 == pytest.approx(small)
    assert "<span>LWLock:B</span>" in html.partition('id="table-profile-figures"')[2]


def test_estimate_without_interval_is_shown_alone() -> None:
    """Fewer than 6 blocks: a figure, and no made-up bounds beside it."""
    findings = example_findings.smallest()
    assert findings.arms[0].throughput_per_s == Estimate(findings.arms[0].throughput_per_s.estimate, None, None)
    html = write_html(findings)

    assert 'class="faint"' not in html.partition('id="table-arms"')[2].partition("</table>")[0]


def test_kinds_are_drawn_as_the_findings_say() -> None:
    """Three marks on one axis: the percentiles of the kind in that arm."""
    findings = example_findings.order_entry()
    panels = {figure["id"]: figure for figure in figures(write_html(findings))}
    times = findings.arms[1].by_script[0].response_time_ns
    trace = panels["chart-kinds-1"]["data"][1]

    assert trace["x"] == [times.p50.estimate, times.p95.estimate, times.p99.estimate]
    assert panels["chart-kinds-1"]["layout"]["xaxis"]["range"] == panels["chart-kinds-8"]["layout"]["xaxis"]["range"]


def test_outcomes_are_pairs_of_bars_in_one_unit() -> None:
    """Before above after, in MiB, because the figure is called bytes."""
    findings = example_findings.order_entry()
    panels = {figure["id"]: figure for figure in figures(write_html(findings))}
    before, after = panels["chart-outcomes-1"]["data"]
    outcome = findings.arms[0].outcomes[0]

    assert (before["x"][0], after["x"][0]) == (outcome.before.estimate / 2**20, outcome.after.estimate / 2**20)
    assert before["y"][0] < after["y"][0]
    assert panels["chart-outcomes-1"]["layout"]["xaxis"]["title"]["text"] == "index, MiB"


def test_fixed_work_is_drawn_in_elapsed_time() -> None:
    """Drift and trial values show what the verdict is about; there is no percentile and no distribution."""
    findings = example_findings.fixed_work()
    html = write_html(findings)
    panels = {figure["id"]: figure for figure in figures(html)}
    trial = findings.arms[0].by_trial[0]
    assert trial.elapsed_ns is not None

    [marks] = panels["chart-drift-1"]["data"]
    assert marks["y"][0] == trial.elapsed_ns / 1e9
    assert "chart-distribution-1" not in panels
    assert "trials of 1 execution each" in html
    assert "response p99" not in html
    assert re.search(r'<th scope="col" class="figures">elapsed <span class="unit">s</span>', html)


def test_checks_with_one_result_share_a_row() -> None:
    """The failure first, by name; the seven arms that hold as a number."""
    table = evidence_tables.checks(arrange(example_findings.order_entry()))
    assert table is not None

    assert [[cell.text for cell in row] for row in table.sections[0].rows] == [
        ["plan", "a plan with Index Scan", "failed: Seq Scan on products", "io-bound/nowait-batch", "12", "12"],
        ["plan", "a plan with Index Scan", "holds", "7 arms", "84", "0"],
        [
            "invariant stock is never negative", "no violation of stock is never negative", "holds", "8 arms",
            "96", "0",
        ],
    ]  # fmt: skip


def test_plan_that_is_not_known_in_full_is_still_a_tree() -> None:
    """EXPLAIN without ANALYZE has no actual rows; a node of a later server keeps its name."""
    node = tree({"Node Type": "New Node", "Plans": [{"Node Type": "Index Scan", "Index Name": "i", "Index Cond": "x"}]})

    assert node == Node("New Node", "", "", [Node("Index Scan using i", "", "Index Cond: x", [])])


def test_heat_map_is_not_pressed_flat_by_what_was_seen_by_luck() -> None:
    """One wait of 1 ns beside those of milliseconds: the axis begins a decade below the period of the snapshots."""
    cells = [[0, 0, 1], *([step, 65, 10] for step in range(20))]
    axis = heat_panel(Lengths("t", "IO:WalSync", 20, 10**8, 10, 1.4e6, cells)).layout["yaxis"]

    assert axis["range"] == [50, 70]
    assert axis["ticktext"] == ["100 µs", "1 ms", "10 ms"]


def test_the_page_says_what_the_self_test_found() -> None:
    """In the section on the instrument, not again among the machine's figures; what to type where there was none."""
    tested = write_html(example_findings.commit_write())
    untested = write_html(example_findings.smallest())

    section = tested.partition('<section id="section-instrument">')[2].partition("</section>")[0]
    assert re.search(r"20 of 20 planted times\s+found within 3.%", section)
    assert "instrument verdict" not in tested
    assert "dbdyno selftest" in untested.partition('<section id="section-instrument">')[2]
