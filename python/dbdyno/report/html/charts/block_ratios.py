"""The comparison block by block: what the verdict was made from."""

from __future__ import annotations

from dbdyno.analysis.findings import Comparison, Findings
from dbdyno.report.html import palette
from dbdyno.report.html.arrangement import Arrangement, Group, Placed, primary
from dbdyno.report.html.chart import BAND, Chart, Json, Key, Panel, literal, panel, title
from dbdyno.report.html.names import metric_name
from dbdyno.report.html.palette import Fill
from dbdyno.report.html.scale import ratio_axis, ratio_range
from dbdyno.report.numbers import percent, ratio

HEIGHT_PX = 250

Compared = list[tuple[Placed, Comparison]]


def chart(findings: Findings, arrangement: Arrangement) -> Chart | None:
    """One panel for each group; None where no block holds a pair."""
    compared = primary(findings)
    groups = [
        (group, pairs)
        for group in arrangement.groups
        if (pairs := [(one, compared[one.arm.arm]) for one in group.placed if _has_blocks(one, compared)])
    ]
    if not groups:
        return None
    shown = dict.fromkeys((one.label, one.mark) for _, pairs in groups for one, _ in pairs)
    return Chart(
        id="block-ratios",
        short="Block by block",
        heading="The same comparison, block by block",
        caption=(
            f"Ratio of {metric_name(findings.metric)}, arm / baseline, within each block; "
            "each panel has its own logarithmic scale."
        ),
        reading=(
            "The verdict rests on these points and on nothing else: the more of them lie on one side of 1x, and the "
            "further from it, the surer the change. A trend along the blocks means that the effect itself changes "
            "as the run goes on, and the verdict is about its middle."
        ),
        panels=[_panel(group, pairs, findings.margin) for group, pairs in groups],
        keys=[
            *(Key(label, mark) for label, mark in shown),
            Key(f"margin of {percent(findings.margin)}", Fill(palette.BAND_KEY)),
        ],
        columns=2,
    )


def _has_blocks(one: Placed, compared: dict[str, Comparison]) -> bool:
    return one.arm.arm in compared and bool(compared[one.arm.arm].block_ratios)


def _panel(group: Group, pairs: Compared, margin: float) -> Panel:
    low, high = ratio_range([value for _, comparison in pairs for value in comparison.block_ratios], margin)
    blocks = max(len(comparison.block_ratios) for _, comparison in pairs)
    return panel(
        group.name,
        f"Ratios in {blocks} blocks, a line for each of {', '.join(one.label for one, _ in pairs)}.",
        HEIGHT_PX,
        [_line(one, comparison) for one, comparison in pairs],
        x={
            "title": title("block"), "range": [0.5, blocks + 0.5], "showgrid": False,
            "tickformat": "d", "nticks": 8, "tick0": 1, "dtick": max(1, -(-blocks // 8)),
        },
        y=ratio_axis(low, high),
        shapes=[_margin(margin), _unity()],
    )  # fmt: skip


def _line(one: Placed, comparison: Comparison) -> Json:
    ratios = comparison.block_ratios
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": literal(one.label),
        "x": list(range(1, len(ratios) + 1)),
        "y": ratios,
        "line": {"color": one.mark.colour, "width": 1, "dash": one.mark.dash},
        "marker": {"color": one.mark.colour, "symbol": one.mark.symbol, "size": 7},
        "text": [f"{literal(one.label)}<br>block {place}: {ratio(value)}" for place, value in enumerate(ratios, 1)],
        "hovertemplate": "%{text}<extra></extra>",
        "cliponaxis": False,
    }


def _margin(margin: float) -> Json:
    return {
        "type": "rect", "x0": 0, "x1": 1, "xref": "paper", "y0": 1 / (1 + margin), "y1": 1 + margin,
        "fillcolor": BAND, "line": {"width": 0}, "layer": "below",
    }  # fmt: skip


def _unity() -> Json:
    return {
        "type": "line", "x0": 0, "x1": 1, "xref": "paper", "y0": 1, "y1": 1,
        "line": {"color": palette.NEUTRAL, "width": 1}, "layer": "below",
    }  # fmt: skip
