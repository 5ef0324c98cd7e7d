"""The forest plot: each arm's effect against its baseline, with its interval, the margin and the verdict in words."""

from __future__ import annotations

from dbdyno.analysis.findings import Comparison, Findings
from dbdyno.report.html import palette
from dbdyno.report.html.arrangement import Arrangement, Group, Placed, primary
from dbdyno.report.html.chart import BAND, Chart, Json, Key, Panel, literal, panel
from dbdyno.report.html.names import metric_name
from dbdyno.report.html.palette import Fill, Mark
from dbdyno.report.html.quantity import percent, ratio
from dbdyno.report.html.rows import Row, Rows, lay_out
from dbdyno.report.html.scale import ratio_axis, ratio_range
from dbdyno.report.html.table import Cell, Column, Section, Table

BAND_PX = 22
AXIS_PX = 42

COLOURS = {"better": palette.BETTER, "worse": palette.WORSE}


def chart(findings: Findings, arrangement: Arrangement) -> Chart | None:
    """The effects on the primary metric; None where nothing is compared."""
    compared = primary(findings)
    if not compared:
        return None
    axis = _common_axis(list(compared.values()), findings.margin)
    groups = [group for group in arrangement.groups if any(one.arm.arm in compared for one in group.placed)]
    return Chart(
        id="effects",
        short="Effects",
        heading=f"What each arm changes: {metric_name(findings.metric)} against the baseline",
        caption=(
            "Ratio arm / baseline with its 95 % interval on a logarithmic scale that all panels share; "
            f"the grey band is the margin of {percent(findings.margin)}."
        ),
        reading=(
            "The line at ×1 means no change. The mark is the estimate and the bar its 95 % interval. "
            "A bar clear of the line is a change that chance alone hardly makes; a bar clear of the grey band as well "
            "is a change large enough to matter; a bar wholly inside the band is as good as no change. "
            "Filled marks are verdicts of better or worse, hollow ones are all others."
        ),
        panels=[_panel(group, compared, findings.margin, axis) for group in groups],
        keys=[
            Key("better", Mark(palette.BETTER, "square")),
            Key("worse", Mark(palette.WORSE, "square")),
            Key("same, small or undecided", Mark(palette.NEUTRAL, "square-open")),
            Key(f"margin of {percent(findings.margin)}", Fill("rgba(128,128,128,0.3)")),
        ],
        table=_table(findings),
        table_title="All comparisons, every metric",
    )


def ends(one: Comparison) -> list[float]:
    """The estimate and the ends of its interval, where it has any."""
    ratios = (one.ratio.low, one.ratio.estimate, one.ratio.high)
    return [value for value in ratios if value is not None]


def _common_axis(comparisons: list[Comparison], margin: float) -> Json:
    return ratio_axis(*ratio_range([value for one in comparisons for value in ends(one)], margin))


def _panel(group: Group, compared: dict[str, Comparison], margin: float, axis: Json) -> Panel:
    shown = [(one, compared[one.arm.arm]) for one in group.placed if one.arm.arm in compared]
    rows = lay_out([(one.label, verdict_text(comparison)) for one, comparison in shown], BAND_PX)
    traces = [_mark(one, comparison, row) for (one, comparison), row in zip(shown, rows.rows, strict=True)]
    baselines = ", ".join(dict.fromkeys(comparison.baseline for _, comparison in shown))
    return panel(
        f"against {baselines}",
        "Effects: " + "; ".join(f"{one.label}: {verdict_text(comparison)}" for one, comparison in shown) + ".",
        rows.height_px + AXIS_PX,
        traces,
        x=axis,
        y=rows.axis(),
        annotations=rows.notes,
        shapes=[_margin(rows, margin), _unity(rows)],
    )


def verdict_text(one: Comparison) -> str:
    """The verdict and the effect in a few words."""
    if one.ratio.low is None or one.ratio.high is None:
        return f"{one.verdict}  {ratio(one.ratio.estimate)}"
    return f"{one.verdict}  {ratio(one.ratio.estimate)} ({ratio(one.ratio.low)[1:]} to {ratio(one.ratio.high)[1:]})"


def _mark(one: Placed, comparison: Comparison, row: Row) -> Json:
    effect = comparison.ratio
    decided = comparison.verdict in COLOURS
    colour = COLOURS.get(comparison.verdict, palette.NEUTRAL)
    trace: Json = {
        "type": "scatter",
        "mode": "markers",
        "name": literal(one.label),
        "x": [effect.estimate],
        "y": [row.middle_px],
        "marker": {
            "symbol": "square" if decided else "square-open",
            "size": 11,
            "color": colour,
            "line": {"width": 0 if decided else 2, "color": colour},
        },
        "text": [f"{literal(one.label)}<br>{verdict_text(comparison)}"],
        "hovertemplate": "%{text}<extra></extra>",
        "cliponaxis": False,
    }
    if effect.low is not None and effect.high is not None:
        trace["error_x"] = {
            "type": "data",
            "symmetric": False,
            "array": [effect.high - effect.estimate],
            "arrayminus": [effect.estimate - effect.low],
            "thickness": 2.5,
            "width": 5,
            "color": colour,
        }
    return trace


def _margin(rows: Rows, margin: float) -> Json:
    return {
        "type": "rect", "x0": 1 / (1 + margin), "x1": 1 + margin, "y0": 0, "y1": rows.height_px,
        "fillcolor": BAND, "line": {"width": 0}, "layer": "below",
    }  # fmt: skip


def _unity(rows: Rows) -> Json:
    return {
        "type": "line", "x0": 1, "x1": 1, "y0": 0, "y1": rows.height_px,
        "line": {"color": palette.NEUTRAL, "width": 1}, "layer": "below",
    }  # fmt: skip


def _table(findings: Findings) -> Table:
    columns = [
        Column("arm", figures=False),
        Column("baseline", figures=False),
        Column("ratio", "95 % interval"),
        Column("p"),
        Column("p, Holm"),
        Column("verdict", figures=False),
        Column("more blocks needed"),
    ]
    metrics = dict.fromkeys([findings.metric, *(one.metric for one in findings.comparisons)])
    sections = [
        Section(metric_name(metric), [_table_row(one) for one in findings.comparisons if one.metric == metric])
        for metric in metrics
    ]
    return Table("comparisons", columns, sections)


def _table_row(one: Comparison) -> list[Cell]:
    effect = one.ratio
    interval = (
        "" if effect.low is None or effect.high is None else f"{ratio(effect.low)[1:]} to {ratio(effect.high)[1:]}"
    )
    return [
        Cell(one.arm),
        Cell(one.baseline),
        Cell(ratio(effect.estimate), interval),
        Cell(_probability(one.p_value)),
        Cell(_probability(one.p_value_holm)),
        Cell(one.verdict),
        Cell("" if one.blocks_needed is None else str(one.blocks_needed)),
    ]


def _probability(value: float | None) -> str:
    if value is None:
        return ""
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
