"""The page of a calibration without a browser: valid figures, names as text, figures as the findings say."""

from __future__ import annotations

import dataclasses
import html as markup
import json
import math
import re
from typing import Any

import plotly.graph_objects
import pytest
import synthetic_calibration

from dbdyno.analysis.calibration.findings import Calibration, HeatMap
from dbdyno.analysis.findings import Estimate
from dbdyno.report.calibration.fragment import fragment
from dbdyno.report.calibration.terminal import render
from dbdyno.report.html.calibration import page

HOSTILE = '</script><script>alert("x")</script>'


def figures(html: str) -> dict[str, dict[str, Any]]:
    """The figures as the page's script will read them, by element."""
    found = re.search(r'<script type="application/json" id="figures">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    return {figure["id"]: figure for figure in json.loads(found[1])}


def text_of(html: str) -> str:
    """The words of the page, on one line."""
    return " ".join(markup.unescape(re.sub(r"<[^>]+>", " ", html)).split())


@pytest.mark.parametrize(
    "calibration",
    [
        synthetic_calibration.virtual_disk(),
        synthetic_calibration.plain_disk(),
        synthetic_calibration.through_database(),
    ],
)
def test_every_figure_is_valid(calibration: Calibration) -> None:
    """plotly's own schema accepts each trace and each layout."""
    for figure in figures(page(calibration)).values():
        plotly.graph_objects.Figure(data=figure["data"], layout=figure["layout"])


def without_intervals(found: Any) -> Any:
    """The same findings as from too few blocks."""
    if isinstance(found, Estimate):
        return Estimate(found.estimate, None, None)
    if isinstance(found, tuple):
        return tuple(without_intervals(one) for one in found)
    if dataclasses.is_dataclass(found) and not isinstance(found, type):
        fields = {field.name: without_intervals(getattr(found, field.name)) for field in dataclasses.fields(found)}
        return dataclasses.replace(found, **fields)
    return found


def test_too_few_blocks_leave_estimates_without_bars() -> None:
    """Every figure stands all the same, on the page and on the terminal, and no bar is invented."""
    calibration = without_intervals(synthetic_calibration.virtual_disk())
    drawn = figures(page(calibration))

    assert list(drawn) == list(figures(page(synthetic_calibration.virtual_disk())))
    assert drawn["chart-curve-1"]["data"][0]["error_y"]["array"] == [0] * 8
    assert drawn["chart-burst-1"]["layout"]["shapes"] == []
    assert "35,100 IOPS; the load with the most" in " ".join(render(calibration).split())


def test_an_interval_down_to_zero_breaks_no_axis() -> None:
    """A logarithmic axis begins at what it can show."""
    whole = synthetic_calibration.virtual_disk()
    wide = Estimate(60_000.0, -5_000.0, 120_000.0)
    latency = dataclasses.replace(whole.loads[0].latency, p50_ns=wide)
    calibration = dataclasses.replace(
        whole,
        loads=(dataclasses.replace(whole.loads[0], latency=latency),),
        spans=(dataclasses.replace(whole.spans[0], latency=latency),),
    )

    assert figures(page(calibration))["chart-curve-2"]["layout"]["yaxis"]["range"][0] > 4


def test_an_interval_of_many_powers_of_ten_presses_nothing_flat() -> None:
    """The axis stays with the estimates, and the caption says where the end of the bar is to be found."""
    whole = synthetic_calibration.virtual_disk()
    loads = [*whole.loads[:-1], dataclasses.replace(whole.loads[-1], iops=Estimate(78_100.0, 1.0, 1e12))]
    sizes = [*whole.sizes[:-1], dataclasses.replace(whole.sizes[-1], bytes_per_s=Estimate(1.29e9, 1.0, 1e18))]
    html = page(dataclasses.replace(whole, loads=tuple(loads), sizes=tuple(sizes)))
    drawn = figures(html)

    assert drawn["chart-curve-1"]["layout"]["yaxis"]["range"] == pytest.approx([0, 78_100 * 2 * 1.12])
    assert drawn["chart-curve-2"]["layout"]["xaxis"]["range"] == pytest.approx([0, 78_100 * 2 * 1.12])
    assert drawn["chart-sizes-1"]["layout"]["yaxis"]["range"] == pytest.approx([0, 1_290 * 2 * 1.12])
    assert html.count("Where a bar leaves the picture, the table has its end.") == 2
    assert "leaves the picture" not in page(whole)


def test_page_is_one_small_file_without_addresses() -> None:
    """Outside plotly.js nothing names a host, the policy forbids every fetch, and the figures take little room."""
    own = page(synthetic_calibration.virtual_disk()).replace(plotly.offline.get_plotlyjs(), "")
    ids = re.findall(r'\sid="([^"]+)"', own)

    assert "://" not in own
    assert "default-src 'none'" in own
    assert len(own) < 300_000
    assert sorted(ids) == sorted(set(ids))


def test_names_cannot_leave_their_place() -> None:
    """Directories, devices, verdicts, checks, settings, methods and warnings are text, whatever is in them."""
    html = page(synthetic_calibration.hostile(HOSTILE))

    assert page(synthetic_calibration.virtual_disk()).count("<script") == html.count("<script")
    assert HOSTILE not in html


def test_files_expectations_and_the_guard_are_on_the_page() -> None:
    """And only where there are any."""
    html = page(synthetic_calibration.read_only())
    text = text_of(html).replace("\u00a0", " ")

    assert "5/16402" in text
    assert "62,300 of 100,000 expected IOPS (62 %), depth 32." in text
    assert "16 of its last 30 answers took more than 10 ms" in text
    without = page(synthetic_calibration.plain_disk())
    for section in ('id="section-files"', 'id="section-ceilings"', 'id="guarded"'):
        assert section in html
        assert section not in without


def test_verdicts_come_first_with_the_quality() -> None:
    """In the order of the findings, before any chart, with the reasons for the quality."""
    calibration = synthetic_calibration.virtual_disk()
    head = text_of(page(calibration).partition("<nav")[0]).replace("\u00a0", " ").replace("µs", "us")
    places = [head.index(verdict.sentence) for verdict in calibration.verdicts]

    assert places == sorted(places)
    assert "indicative: the order of magnitude holds" in head
    assert calibration.reasons[1] in head


def test_heat_maps_draw_all_ios_and_all_time() -> None:
    """Over time the cells of the left map add up to all I/Os, those of the right one to all their time."""
    calibration = synthetic_calibration.virtual_disk()
    drawn = figures(page(calibration))
    over_time = calibration.heat_maps[1]
    sums = [
        sum(10**z for row in drawn[f"chart-latencies-{place}"]["data"][0]["z"] for z in row if z is not None)
        for place in (3, 4)
    ]

    assert sums[0] == pytest.approx(sum(ios for _, _, ios in over_time.cells), rel=1e-3)
    assert sums[1] == pytest.approx(sum(ns for _, _, ns in over_time.time_cells), rel=1e-3)


def test_columns_of_loads_are_shares() -> None:
    """A deep queue reads more than a shallow one; each column adds up to one."""
    [trace] = figures(page(synthetic_calibration.virtual_disk()))["chart-latencies-1"]["data"]
    columns = [sum(10**z for z in column if z is not None) for column in zip(*trace["z"], strict=True)]

    assert columns == pytest.approx([1.0] * 8, rel=1e-3)


def test_a_slow_mode_weighs_more_in_time() -> None:
    """What is one I/O in a hundred on the left is a quarter of the time on the right."""
    heat_map = HeatMap("load", ("1",), ((0, 238, 99), (0, 315, 1)))
    calibration = dataclasses.replace(synthetic_calibration.virtual_disk(), heat_maps=(heat_map,))
    drawn = figures(page(calibration))
    shares = [
        [10**z for row in drawn[f"chart-latencies-{place}"]["data"][0]["z"] for z in row if z is not None]
        for place in (1, 2)
    ]

    assert shares[0] == pytest.approx([0.99, 0.01], rel=2e-3)
    assert shares[1] == pytest.approx([99 / (99 + 10**1.54), 10**1.54 / (99 + 10**1.54)], rel=2e-3)


def test_a_long_series_is_merged() -> None:
    """Half an hour of steps over five decades is at most 100 columns and 60 rows."""
    cells = tuple((step, place, 1) for step in range(1_000) for place in range(200, 450, 10))
    long = HeatMap("time", tuple(str(step) for step in range(1_000)), cells, step_ns=1_800_000_000)
    calibration = dataclasses.replace(synthetic_calibration.virtual_disk(), heat_maps=(long,))
    [trace] = figures(page(calibration))["chart-latencies-1"]["data"]

    assert len(trace["z"][0]) == 100
    assert len(trace["z"]) <= 60
    assert (trace["x"][0], trace["x"][-1]) == (0, 1_800)


def test_the_curve_and_its_knees_are_the_findings() -> None:
    """Points, error bars, and a diamond with the interval of its depth."""
    calibration = synthetic_calibration.virtual_disk()
    drawn = figures(page(calibration))
    throughput, knees = drawn["chart-curve-1"]["data"]
    clocks = {trace["name"]: trace for trace in drawn["chart-curve-2"]["data"]}
    letters = [note["text"] for note in drawn["chart-curve-1"]["layout"]["annotations"]]

    assert throughput["x"] == [load.depth for load in calibration.loads]
    assert throughput["y"] == [load.iops.estimate for load in calibration.loads]
    assert throughput["error_y"]["array"][0] == pytest.approx(16_200 * 0.04)
    assert clocks["p99"]["y"] == [load.latency.p99_ns.estimate for load in calibration.loads]
    assert clocks["p99"]["x"] == throughput["y"]
    assert [knee.depth for knee in calibration.knee] == knees["x"]
    assert knees["error_x"]["arrayminus"] == [2, 2, 0]
    assert letters == ["<b>A B</b>", "<b>C</b>"]


def test_knees_are_explained_beside_the_curve() -> None:
    """The formula, and what it means, stand above the picture."""
    words = text_of(page(synthetic_calibration.virtual_disk()))

    assert "Knee A : max X/R: depth 4 (2 to 4), 35,100 IOPS (24,100 to 36,400); the load with the most" in words
    assert "so it is no knee itself" in words


def test_the_cache_is_shaded_up_to_its_edge() -> None:
    """Between the last span that fits and the first that does not."""
    layout = figures(page(synthetic_calibration.virtual_disk()))["chart-cache-1"]["layout"]
    [shade] = layout["shapes"]

    assert shade["x1"] == math.sqrt((64 << 20) * (256 << 20))
    assert [note["text"] for note in layout["annotations"]] == ["cache: 64 MiB or more"]


def test_no_cache_is_said_and_not_drawn() -> None:
    """Within which spans, because no cache outside them can be excluded."""
    html = page(synthetic_calibration.plain_disk())

    assert "No cache was seen between 1 MiB and 1 GiB" in text_of(html).replace("\u00a0", " ")
    assert "shapes" not in figures(html)["chart-cache-1"]["layout"]


def test_the_fitted_bucket_lies_upon_the_series() -> None:
    """Both rates, and the moment in between, with bands for their intervals."""
    panel = figures(page(synthetic_calibration.virtual_disk()))["chart-burst-1"]
    series, fitted = panel["data"]

    assert len(series["x"]) == 201
    assert fitted["x"] == pytest.approx([0, 4.13, 4.13, 20])
    assert fitted["y"] == pytest.approx([2_730, 2_730, 1_300, 1_300])
    assert len(panel["layout"]["shapes"]) == 3


def test_flush_methods_are_ratios_with_intervals() -> None:
    """fdatasync stands at 1 without a bar, each other one where the findings have it."""
    calibration = synthetic_calibration.virtual_disk()
    marks = figures(page(calibration))["chart-flush-1"]["data"]

    assert [mark["x"][0] for mark in marks] == [1.0, *(one.ratio.estimate for one in calibration.flush if one.ratio)]
    assert "error_x" not in marks[0]
    assert marks[3]["error_x"]["array"][0] == pytest.approx(0.04)
    assert [mark["marker"]["symbol"] for mark in marks] == ["circle", "circle", "circle", "square"]


def test_settings_can_be_copied_as_they_are() -> None:
    """The text of the element is the fragment of the terminal, line by line."""
    calibration = synthetic_calibration.virtual_disk()
    found = re.search(r'<pre class="copy" id="settings">(.*?)</pre>', page(calibration), re.DOTALL)

    assert found is not None
    assert markup.unescape(found[1]).splitlines() == fragment(calibration)


def test_calibrate_io_speaks_its_own_words() -> None:
    """Each figure by its name, and beside it what it hides."""
    table = page(synthetic_calibration.virtual_disk()).partition('id="table-calibrate-io"')[2].partition("</table>")[0]
    words = text_of(table)

    assert "max_iops 78100" in words
    assert "max_iops 78100 max_iops is reached with 128 reads in flight at a time; the knee is at 4" in words
    assert "latency is a mean: 1 read in 100" in words
    assert "max_pmbps 1110" in words


def test_checks_that_do_not_hold_come_first() -> None:
    """What failed is what one must read."""
    table = page(synthetic_calibration.virtual_disk()).partition('id="table-checks"')[2].partition("</table>")[0]

    assert text_of(table).index("does not hold") < text_of(table).index("little")


def test_nothing_to_show_is_said() -> None:
    """A calibration that was stopped at once has no chart, and a sentence in the place of each."""
    html = page(synthetic_calibration.nothing())

    assert figures(html) == {}
    for words in (
        "Nothing could be concluded",
        "No read was recorded",
        "The idle device was not measured",
        "No modes were looked for",
        "No load was measured",
        "No cache was looked for",
        "No larger reads were measured",
        "The device was not asked for all that it has",
        "No flush was measured",
        "Nothing that was measured asks for a setting",
        "Nothing was checked",
    ):
        assert words in html


def test_a_database_stands_beside_the_device() -> None:
    """A row for each number of sessions of each way of reading, with both figures; two panels a map, over sessions."""
    html = page(synthetic_calibration.through_database())
    words, drawn = text_of(html), figures(html)
    left_out = "direct: past the page cache (debug_io_direct = data): left out, this file system takes no direct I/O."

    assert "44,100 42,300 to 45,900 0.670x 0.630x to 0.710x 31.0 30.0 to 32.0" in words
    assert left_out in words
    assert [drawn[f"chart-database-{place}"]["layout"]["xaxis"]["title"]["text"] for place in (1, 3)] == [
        "reads at a time",
        "sessions",
    ]
    assert "chart-database-5" not in drawn


def test_a_page_says_where_no_database_was_asked_for() -> None:
    """And how to ask."""
    words = text_of(page(synthetic_calibration.plain_disk()))

    assert "It was not measured through a database; dbdyno calibrate PATH --target embedded does that." in words
