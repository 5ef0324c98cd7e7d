"""Distributions of response times: on a logarithmic axis, the share of units in each bin, one line for each arm."""

from __future__ import annotations

from dbdyno.analysis.findings import Bin
from dbdyno.report.html.arrangement import Arrangement, Group, Placed
from dbdyno.report.html.chart import Chart, Json, Key, Panel, literal, panel
from dbdyno.report.html.palette import Stroke
from dbdyno.report.html.quantity import time_unit
from dbdyno.report.html.scale import time_axis
from dbdyno.report.numbers import percent

HEIGHT_PX = 270


def chart(arrangement: Arrangement) -> Chart | None:
    """One panel for each group; None where trials have too few units for a distribution."""
    groups = [group for group in arrangement.groups if any(_is_drawn(one) for one in group.placed)]
    if not groups:
        return None
    return Chart(
        id="distribution",
        short="Distributions",
        heading="How response times are distributed",
        caption="Share of all units of work by response time, in bins of equal width on the logarithmic scale.",
        reading=(
            "Further left is faster. Each peak is a mode: two peaks mean that units of work meet two different fates, "
            "such as a commit that finds the flush done and one that waits for the next. "
            "The right-hand tail is what users remember; the mean says little about it."
        ),
        panels=[_panel(group) for group in groups],
        keys=[Key(label, Stroke(mark.colour, mark.dash)) for label, mark in arrangement.marks().items()],
        columns=2,
    )


def _is_drawn(one: Placed) -> bool:
    return one.arm.has_percentiles and bool(one.arm.distribution)


def _panel(group: Group) -> Panel:
    drawn = [one for one in group.placed if _is_drawn(one)]
    bins = [one for placed in drawn for one in placed.arm.distribution]
    names = ", ".join(one.label for one in drawn)
    return panel(
        group.name,
        f"Distribution of response times, a line for each of {names}.",
        HEIGHT_PX,
        [_line(one) for one in drawn],
        x=time_axis(max(1, min(one.low_ns for one in bins)), max(one.high_ns for one in bins)),
        y={"rangemode": "tozero", "tickformat": "~g", "ticksuffix": " %", "nticks": 5},
    )


def _line(one: Placed) -> Json:
    x, y, text = outline(one.arm.distribution)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": literal(one.label),
        "x": x,
        "y": [100 * share for share in y],
        "text": [f"{literal(one.label)}<br>{words}" for words in text],
        "hovertemplate": "%{text}<extra></extra>",
        "line": {"color": one.mark.colour, "dash": one.mark.dash, "width": 1.8},
    }


def outline(bins: list[Bin]) -> tuple[list[float], list[float], list[str]]:
    """The outline of the bars; bins that hold nothing are left out of `bins` and drawn at zero."""
    total = sum(one.count for one in bins)
    x: list[float] = []
    y: list[float] = []
    text: list[str] = []
    end = None
    for one in sorted(bins, key=lambda one: one.low_ns):
        low, share = max(1, one.low_ns), one.count / total
        words = f"{_range(low, one.high_ns)}: {percent(share)} of units"
        if end is None or low > end:
            x += [low] if end is None else [end, low]
            y += [0.0] if end is None else [0.0, 0.0]
            text += [words] if end is None else [words, words]
        x += [low, one.high_ns]
        y += [share, share]
        text += [words, words]
        end = one.high_ns
    if end is not None:
        x.append(end)
        y.append(0.0)
        text.append(text[-1])
    return x, y, text


def _range(low_ns: int, high_ns: int) -> str:
    unit = time_unit([high_ns])
    return f"{unit.text(low_ns)} to {unit.named(high_ns)}"
