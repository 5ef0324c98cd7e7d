"""What a chart module hands to the page: figures in plotly's JSON form, and the words around them.

Names come from users' files. In HTML jinja2 escapes them; in a figure `literal` does,
because plotly reads a small HTML of its own in every text.
"""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Sequence
from typing import Any

from dbdyno.analysis.findings import Estimate
from dbdyno.report.html.palette import Fill, Mark, Shade, Stroke
from dbdyno.report.html.table import Table

Json = dict[str, Any]

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
GREY = "rgba(128,128,128,0.28)"
BAND = "rgba(128,128,128,0.16)"


@dataclasses.dataclass(frozen=True, slots=True)
class Panel:
    """One figure with its own scales; `spoken` is what a screen reader says in its place."""

    title: str | None
    spoken: str
    height_px: int
    traces: list[Json]
    layout: Json


@dataclasses.dataclass(frozen=True, slots=True)
class Key:
    """One entry of the legend, which is HTML so that it wraps on any width."""

    text: str
    look: Fill | Mark | Shade | Stroke | None


@dataclasses.dataclass(frozen=True, slots=True)
class Chart:
    """A figure of the report: what it shows, how to read it, its panels and its key.

    `short` names it in the list of contents; `caption` is one sentence beneath it; `reading` explains it at the end.
    `words` are sentences above the figure, each with the name that it is about.
    """

    id: str
    short: str
    heading: str
    caption: str
    reading: str
    panels: Sequence[Panel]
    keys: Sequence[Key] = ()
    columns: int = 1
    tables: Sequence[tuple[str, Table]] = ()
    words: Sequence[tuple[str, str]] = ()


def literal(text: str) -> str:
    """`text` so that plotly shows each character as it is; between dollar signs it would look for TeX."""
    return html.escape(text, quote=False).replace("$", "&#36;")


def panel(title: str | None, spoken: str, height_px: int, traces: list[Json], x: Json, y: Json, **more: Any) -> Panel:
    """A panel in the one style of the report; `x` and `y` say what differs on the axes."""
    layout: Json = {
        "height": height_px,
        "autosize": True,
        "margin": {"l": 8, "r": 8, "t": 8, "b": 8},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": 12.5},
        "showlegend": False,
        "dragmode": False,
        "hovermode": "closest",
        "hoverlabel": {"font": {"family": FONT, "size": 12.5}, "namelength": -1, "align": "left"},
        "xaxis": _axis(x),
        "yaxis": _axis(y),
    } | more
    return Panel(title, spoken, height_px, traces, layout)


def title(text: str) -> Json:
    """The title of an axis; `text` is already literal."""
    return {"text": text, "standoff": 6, "font": {"size": 12.5}}


def note(text: str, **place: Any) -> Json:
    """A text inside a figure; `text` is already literal."""
    return {"text": text, "showarrow": False, "yanchor": "middle", **place}


def interval_bar(estimate: Estimate, colour: str, thickness: float = 3, width: float = 0) -> Json:
    """The part of a trace that draws the interval of its one point; none where it is not known."""
    if estimate.low is None or estimate.high is None:
        return {}
    return {
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [estimate.high - estimate.estimate],
            "arrayminus": [estimate.estimate - estimate.low],
            "thickness": thickness,
            "width": width,
            "color": colour,
        }
    }


def _axis(own: Json) -> Json:
    return {
        "automargin": True,
        "fixedrange": True,
        "gridcolor": GREY,
        "linecolor": GREY,
        "zeroline": False,
        "ticks": "",
    } | own
