"""Puts the page together: which chart and table comes where, and how they reach the template."""

from __future__ import annotations

import json
from typing import Any

import jinja2
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from dbdyno.analysis.findings import Findings
from dbdyno.report.html import evidence_tables, plan_tree, swatch, tables
from dbdyno.report.html.arrangement import Arrangement, arrange
from dbdyno.report.html.chart import Chart
from dbdyno.report.html.charts import (
    block_ratios,
    distribution,
    drift,
    effects,
    exposure,
    indexes,
    kinds,
    outcomes,
    profile,
    schedule,
    trial_values,
)
from dbdyno.report.html.table import Table
from dbdyno.report.html.typeset import typeset
from dbdyno.report.index_words import index_sentences
from dbdyno.report.sentences import trial_length, verdict_sentences

# A plotly.js configuration: no tool bar, no gestures that would catch a telephone's scrolling.
CONFIG = {"displayModeBar": False, "responsive": True, "scrollZoom": False, "doubleClick": False, "showTips": False}


def write_html(findings: Findings) -> str:
    """The whole report as one self-contained HTML text."""
    arrangement = arrange(findings)
    possible = [
        indexes.chart(findings),
        profile.chart(arrangement),
        effects.chart(findings, arrangement),
        kinds.chart(arrangement),
        outcomes.chart(arrangement),
        distribution.chart(arrangement),
        trial_values.chart(findings, arrangement),
        drift.chart(findings, arrangement),
        block_ratios.chart(findings, arrangement),
        exposure.chart(arrangement),
        schedule.chart(findings, arrangement),
    ]
    charts = [chart for chart in possible if chart is not None]
    evidence = _evidence(arrangement)
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            findings=findings,
            sentences=[*index_sentences(findings), *verdict_sentences(findings)],
            arms=tables.unit_of_work(arrangement),
            definitions=tables.definitions(arrangement),
            charts=charts,
            instrument=tables.instrument(arrangement),
            background=tables.background(arrangement),
            provenance=tables.provenance(findings),
            machine=tables.machine(findings),
            settings=tables.settings(findings),
            length=trial_length(findings),
            evidence=evidence if any(evidence.values()) else None,
            checks_summary=evidence_tables.checks_summary(arrangement),
            plans=plan_tree.statements(findings),
            changes=evidence_tables.changes(arrangement),
            started=tables.started(findings),
            figures=_for_script([figure for chart in charts for figure in _figures(chart)]),
            config=_for_script(CONFIG),
            plotly=Markup(get_plotlyjs()),
            swatch=swatch.svg,
        )
    )


def _evidence(arrangement: Arrangement) -> dict[str, Table | None]:
    """The tables of the evidence by name; None where there is nothing to say."""
    return {
        "checks": evidence_tables.checks(arrangement),
        "counters": evidence_tables.counters(arrangement),
        "requests": evidence_tables.requests(arrangement),
        "host_cpu": evidence_tables.host_cpu(arrangement),
        "reset": evidence_tables.reset(arrangement),
        "server_log": evidence_tables.server_log(arrangement),
    }


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("dbdyno.report.html"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["typeset"] = typeset
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
