"""What every page of dbdyno is made of: the templates, the figures as their script reads them, and plotly.js, once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import jinja2
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from dbdyno.report.html import swatch
from dbdyno.report.html.chart import Chart
from dbdyno.report.html.typeset import breakable, typeset

# A plotly.js configuration: no tool bar, no gestures that would catch a telephone's scrolling.
CONFIG = {"displayModeBar": False, "responsive": True, "scrollZoom": False, "doubleClick": False, "showTips": False}


def rendered(template: str, charts: Sequence[Chart], **content: Any) -> str:
    """A whole page from one of the templates; `charts` are those whose panels the page's script draws."""
    return (
        _environment()
        .get_template(template)
        .render(
            **content,
            charts=charts,
            figures=_for_script([figure for chart in charts for figure in _figures(chart)]),
            config=_for_script(CONFIG),
            plotly=Markup(get_plotlyjs()),
            swatch=swatch.svg,
        )
    )


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("dbdyno.report.html"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["typeset"] = typeset
    environment.filters["breakable"] = breakable
    return environment


def _figures(chart: Chart) -> list[dict[str, Any]]:
    return [
        {"id": f"chart-{chart.id}-{place}", "data": panel.traces, "layout": panel.layout}
        for place, panel in enumerate(chart.panels, 1)
    ]


def _for_script(value: Any) -> Markup:
    """JSON that cannot end the script element it stands in, whatever names it holds."""
    text = json.dumps(value, allow_nan=False, ensure_ascii=True, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
