"""The page of a distinct count without a browser: valid figures, names as text, figures as the findings say."""

from __future__ import annotations

import functools
import html as markup
import json
import re
from collections.abc import Callable
from typing import Any

import example_counts
import plotly.graph_objects
import pytest

from dbdyno.analysis.ndv.findings import NdvFindings
from dbdyno.report.html import ndv
from dbdyno.report.html.scale import off_axis
from dbdyno.report.ndv.words import accusation, answer

HOSTILE = '</script><script>alert("x")</script>'
EXAMPLES = [
    example_counts.wrong,
    example_counts.wide,
    example_counts.never_analyzed,
    example_counts.by_the_server,
    example_counts.without_planner,
    example_counts.some_rows,
    example_counts.empty,
]


@functools.cache
def page_of(example: Callable[[], NdvFindings]) -> str:
    """The page of an example, made once."""
    return ndv.page(example())


def figures(html: str) -> dict[str, dict[str, Any]]:
    """The figures as the page's script will read them, by element."""
    found = re.search(r'<script type="application/json" id="figures">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    return {figure["id"]: figure for figure in json.loads(found[1])}


def text_of(html: str) -> str:
    """The words of the page, on one line."""
    return " ".join(markup.unescape(re.sub(r"<[^>]+>", " ", html)).split()).replace("\u2007", "")


def sections(html: str) -> list[str]:
    """Their ids, in the order of the page."""
    return re.findall(r'<section id="section-([^"]+)"', html)


def marks(html: str, chart: str) -> dict[str, list[dict[str, Any]]]:
    """The traces of all panels of a chart, by their names."""
    named: dict[str, list[dict[str, Any]]] = {}
    for place, figure in figures(html).items():
        for trace in figure["data"] if place.startswith(f"chart-{chart}-") else []:
            named.setdefault(trace["name"], []).append(trace)
    return named


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_figure_is_valid(example: Callable[[], NdvFindings]) -> None:
    """plotly's own schema accepts each trace and each layout."""
    for figure in figures(page_of(example)).values():
        plotly.graph_objects.Figure(data=figure["data"], layout=figure["layout"])


@pytest.mark.parametrize("example", [example_counts.wrong, example_counts.wide])
def test_page_is_one_small_file_without_addresses(example: Callable[[], NdvFindings]) -> None:
    """Outside plotly.js nothing names a host, the policy forbids every fetch, and the figures take little room."""
    own = page_of(example).replace(plotly.offline.get_plotlyjs(), "")
    ids = re.findall(r'\sid="([^"]+)"', own)

    assert "://" not in own
    assert "default-src 'none'" in own
    assert len(own) < 250_000
    assert sorted(set(ids)) == sorted(ids)


def test_names_cannot_leave_their_place() -> None:
    """Tables, columns, types, conditions, statements, scripts and warnings are text, whatever is in them."""
    html = ndv.page(example_counts.hostile(HOSTILE))

    assert html.count("<script") == page_of(example_counts.wrong).count("<script")
    assert HOSTILE not in html


def test_the_answer_comes_first_the_worst_before_the_others() -> None:
    """What matters, by its error factor, before what does not; all of it before any chart."""
    found = example_counts.wrong()
    head = text_of(page_of(example_counts.wrong).partition("<nav")[0])
    customer, article = found.columns[2:]
    said = [
        answer(found),
        f"(status, article) : {accusation(found.groups[0])} wrong_and_matters",
        f"customer : {accusation(customer)} wrong_and_matters",
        f"article : {accusation(article)} wrong ",
    ]

    assert [head.index(words) for words in said] == sorted(head.index(words) for words in said)


def test_of_many_wrong_columns_the_first_are_open() -> None:
    """Six of twenty; the others are numbered on."""
    head = page_of(example_counts.wide).partition("<nav")[0]

    assert "<summary>14 more</summary>" in head
    assert head.partition("<details")[0].count("wrong_and_matters") == 6
    assert head.count("wrong_and_matters") == 20
    assert 'style="--before: 6"' in head


def test_marks_are_the_error_factors() -> None:
    """Left of 1 by the factor where the planner is too low, right of it where too high; the shape is the verdict."""
    found = example_counts.wrong()
    drawn = marks(page_of(example_counts.wrong), "errors")
    planner = {name: traces[-1] for name, traces in drawn.items()}
    customer = found.columns[2]

    assert list(planner) == ["(status, article)", "customer", "article", "id", "status"]
    assert {name: (trace["x"], trace["marker"]["symbol"]) for name, trace in planner.items()} == {
        "(status, article)": ([pytest.approx(500 / 21_007)], "square"),
        "customer": ([pytest.approx(1_000 / 40_024)], "square"),
        "article": ([pytest.approx(12_000 / 3_001)], "diamond"),
        "id": ([1.0], "circle"),
        "status": ([1.0], "circle"),
    }
    assert len(drawn["(status, article)"]) == 1
    assert drawn["customer"][0]["x"] == [pytest.approx(one.ndv / 40_024) for one in customer.analyze]
    assert drawn["customer"][0]["y"][0] > planner["customer"]["y"][0]


def test_an_interval_is_drawn_to_its_side() -> None:
    """A count that may be higher makes a planner that is too low lower still."""
    found = example_counts.wrong()
    customer = found.columns[2]
    wider = example_counts.with_interval(found, "customer", 0.9, 1.2)
    [mark] = marks(ndv.page(wider), "errors")["customer"][1:]
    factor = customer.error_factor
    assert factor is not None

    assert mark["x"] == [pytest.approx(1 / factor)]
    assert mark["error_x"]["arrayminus"] == [pytest.approx(1 / factor - 1 / (1.2 * factor))]
    assert mark["error_x"]["array"] == [pytest.approx(1 / (0.9 * factor) - 1 / factor)]


def test_right_ones_of_a_wide_table_share_a_line() -> None:
    """All sixty columns are drawn: twenty wrong ones on lines of their own, half of the lines in each panel."""
    html = page_of(example_counts.wide)
    drawn = figures(html)
    labels = [
        [note["text"] for note in drawn[f"chart-errors-{place}"]["layout"]["annotations"] if "<b>" in note["text"]]
        for place in (1, 2)
    ]
    lines = {trace["y"][0] for trace in drawn["chart-errors-2"]["data"] if trace["mode"] == "markers"}

    assert len(marks(html, "errors")) == 60
    assert labels[1][-1] == "<b>40 more</b>"
    assert len(lines) == 10
    assert drawn["chart-errors-1"]["layout"]["xaxis"] == drawn["chart-errors-2"]["layout"]["xaxis"]


def test_curves_are_the_growth_and_the_fix_goes_on() -> None:
    """A ratio grows with the rows beyond the last, a constant does not."""
    found = example_counts.wrong()
    drawn = figures(page_of(example_counts.wrong))
    titles = re.findall(r"<h3>(.*?)</h3>", page_of(example_counts.wrong).partition('id="section-growth"')[2])[:2]
    customer, article = ({trace["name"]: trace for trace in drawn[f"chart-growth-{place}"]["data"]} for place in (1, 2))
    growth = found.columns[2].growth
    assert growth is not None

    assert titles == ["customer: a ratio to the rows", "article: a constant"]
    assert customer["customer"]["x"] == [10 * tenth for tenth in range(11)]
    assert customer["customer"]["y"] == [0, *(point.ndv for point in growth.points)]
    assert customer["with the fix"]["y"] == [pytest.approx(0.4002 * rows) for rows in (100_000, 150_000)]
    assert article["with the fix"]["y"] == [3_001, 3_001]
    assert article["as a ratio"]["y"] == [0, pytest.approx(1.5 * 3_001)]
    assert "chart-growth-3" not in drawn


def test_analyze_alone_may_store_the_other_form() -> None:
    """That is said, and the line goes where the planner will go."""
    html = page_of(example_counts.never_analyzed)
    fixed = next(trace for trace in figures(html)["chart-growth-1"]["data"] if trace["name"] == "with the fix")

    assert "the second half of the rows brought no new values; ANALYZE, which is right for the present, " in html
    assert fixed["y"] == [pytest.approx(20_000, rel=0.01), pytest.approx(30_000, rel=0.01)]


def test_tables_are_the_findings() -> None:
    """Columns and groups, what ANALYZE would say, how long a figure holds, plans, references."""
    words = text_of(page_of(example_counts.wrong))

    assert "customer bigint 40,024 exact 1,000 statistics 40x too low wrong, matters" in words
    assert "columns together (status, article) 21,007 exact 500 independence 42x too low wrong, matters" in words
    assert "customer 2.4x 16,600 1.0x 40,000 1.0x 40,000 1,000" in words
    assert "status constant saturates 0.00 not within 1,000 times the rows the second half" in words
    assert "Seq Scan on t 100,000 100,000 1,541 1,541" in words
    assert "GroupAggregate 1,000 9,000 " in words
    assert "SELECT 1 another plan: GroupAggregate > Seq Scan on t becomes HashAggregate > Seq Scan on t." in words
    assert "40 calls so far, 2.00 s in all" in words
    assert "nonsense not planned: no statement." in words
    assert "left out: 2 statements of others" in words
    assert "t.customer customers.id likely 1 % 0.5 % to 2 % 90 % the names agree" in words
    assert (
        "1 more column refers to standing orphans of its values it has of the values there because t.status t.id"
        in words
    )
    assert "doc (json): json has no equality" in words


def test_scripts_can_be_copied_as_they_are() -> None:
    """The text of the element is the script but for its comment."""
    found = example_counts.wrong()
    html = page_of(example_counts.wrong)

    for name, script in (("fix", found.fix_script), ("undo", found.undo_script)):
        shown = re.search(rf'<pre class="copy" id="{name}">(.*?)</pre>', html, re.DOTALL)
        assert shown is not None
        assert script is not None
        assert markup.unescape(shown[1]).splitlines() == script.splitlines()[1:]


@pytest.mark.parametrize(
    ("example", "expected"),
    [
        (
            example_counts.wrong,
            ["errors", "columns", "growth", "plans", "fix", "foreign-keys", "not-counted", "measured", "reading"],
        ),
        (example_counts.by_the_server, ["errors", "columns", "growth", "fix", "measured", "reading"]),
        (example_counts.without_planner, ["columns", "growth", "not-counted", "measured", "reading"]),
        (example_counts.some_rows, ["columns", "measured", "reading"]),
        (example_counts.empty, ["columns", "measured", "reading"]),
    ],
)
def test_what_there_is_nothing_of_is_not_there(example: Callable[[], NdvFindings], expected: list[str]) -> None:
    """Neither as a section nor among the contents."""
    html = page_of(example)

    assert sections(html) == expected
    assert re.findall(r'<a href="#section-([^"]+)">', html.partition("<nav")[2].partition("</nav>")[0]) == expected


def test_without_samples_and_order_none_are_spoken_of() -> None:
    """A count by the server: no marks of ANALYZE, no curve, and the page explains neither."""
    html = page_of(example_counts.by_the_server)
    words = text_of(html)

    assert list(figures(html)) == ["chart-errors-1"]
    assert "ANALYZE at target" not in words
    assert "smaller marks" not in words
    assert "there is one value to 2.5 rows; how it grew is not known." in words
    assert "nobody saw the values grow" in words


def test_without_a_planner_there_are_no_columns_of_it() -> None:
    """Only what was counted."""
    html = page_of(example_counts.some_rows)
    table = html.partition('id="table-columns"')[2].partition("</table>")[0]

    assert text_of(table.partition(">")[2]) == "column different values status bigint 7 exact"
    assert "Are the planner" not in html


def test_without_a_planner_values_that_repeat_show_their_growth() -> None:
    """Three columns of four, without a fix; nothing is said of statistics."""
    html = page_of(example_counts.without_planner)
    drawn = figures(html)
    names = [{trace["name"] for trace in drawn[f"chart-growth-{place}"]["data"]} for place in (1, 2, 3)]
    words = text_of(html.partition("</nav>")[2].partition("<script")[0])

    assert list(drawn) == ["chart-growth-1", "chart-growth-2", "chart-growth-3"]
    assert names == [{"as a ratio", "as a constant", name} for name in ("status", "customer", "article")]
    assert "customer : a ratio to the rows, twice the rows had 2.00 times the values." in words
    assert "planner" not in words
    assert "wrong by 2" not in words


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.47, 2.1, ["2x", "1.5x", "1x", "1.5x", "2x"]),
        (0.01, 2.1, ["100x", "30x", "10x", "3x", "1x"]),
        (1e-7, 2.1, ["1,000,000x", "10,000x", "100x", "1x"]),
        (0.47, 1e9, ["1x", "100x", "10,000x", "1,000,000x", "100,000,000x"]),
    ],
)
def test_ticks_say_how_many_times_to_either_side(low: float, high: float, expected: list[str]) -> None:
    """The same words on both sides of 1, each where it belongs, and few enough for a telephone."""
    axis = off_axis(low, high)
    factors = [float(text.removesuffix("x").replace(",", "")) for text in axis["ticktext"]]

    assert axis["ticktext"] == expected
    assert [max(value, 1 / value) for value in axis["tickvals"]] == pytest.approx(factors)
    assert axis["tickvals"] == sorted(axis["tickvals"])
