"""The forest plot: each arm's effect against its baseline, with its interval, the margin and the verdict in words."""

from __future__ import annotations

from collections.abc import Iterable

from dbdyno.analysis.findings import Comparison, Estimate, Findings
from dbdyno.report.html import forest
from dbdyno.report.html.arrangement import Arrangement, Group, Placed, primary
from dbdyno.report.html.chart import Chart, Json, Key, Panel, literal, panel
from dbdyno.report.html.comparison_tables import comparisons_table, reasons_table
from dbdyno.report.html.further_tables import exploratory_table, interactions_table
from dbdyno.report.html.names import metric_name
from dbdyno.report.html.quantity import ratio_ends
from dbdyno.report.html.rows import Row, lay_out
from dbdyno.report.html.scale import ratio_axis, ratio_range
from dbdyno.report.numbers import ratio
from dbdyno.report.sentences import verdict_word

BAND_PX = 22


def chart(findings: Findings, arrangement: Arrangement) -> Chart | None:
    """The effects on the primary metric; None where nothing is compared."""
    compared = primary(findings)
    groups = [group for group in arrangement.groups if any(one.arm.arm in compared for one in group.placed)]
    if not groups:
        return None
    axis = _common_axis(compared.values(), findings.margin)
    tables = [
        ("All comparisons as figures", comparisons_table(findings)),
        ("Which parts of the time of a unit of work changed", reasons_table(findings)),
        ("Does an effect depend on the other factor?", interactions_table(findings)),
        ("Other metrics, exploratory: hints, not verdicts", exploratory_table(findings)),
    ]
    return Chart(
        id="effects",
        short="Effects",
        heading=f"What each arm changes: {metric_name(findings.metric)} against the baseline",
        caption="Ratio arm / baseline with its 95 % interval, on one logarithmic scale for all panels.",
        reading=(
            "The line at 1x means no change, right of it is more and left of it less. The mark is the estimate and the "
            "bar through it the 95 % interval; where no bar is seen, the interval is narrower than the mark. "
            "An interval clear of the line is a change that chance alone hardly makes; a mark clear of the grey band "
            "is a change large enough to matter; an interval within the band leaves no room for one that matters."
        ),
        panels=[_panel(group, compared, findings.margin, axis) for group in groups],
        keys=_keys(findings.margin, limited=any(one.limited_by for one in compared.values())),
        tables=[(words, table) for words, table in tables if table is not None],
    )


def _keys(margin: float, *, limited: bool) -> list[Key]:
    keys = [*forest.verdict_keys(), forest.margin_key(margin)]
    return [*keys, Key("† read with the warnings at the top", None)] if limited else keys


def _common_axis(comparisons: Iterable[Comparison], margin: float) -> Json:
    return ratio_axis(*ratio_range([value for one in comparisons for value in _ends(one.ratio)], margin))


def _ends(effect: Estimate) -> list[float]:
    return [value for value in (effect.low, effect.estimate, effect.high) if value is not None]


def _panel(group: Group, compared: dict[str, Comparison], margin: float, axis: Json) -> Panel:
    shown = [(one, compared[one.arm.arm]) for one in group.placed if one.arm.arm in compared]
    rows = lay_out([(one.label, verdict_text(comparison)) for one, comparison in shown], BAND_PX)
    traces = [_mark(one, comparison, row) for (one, comparison), row in zip(shown, rows.rows, strict=True)]
    baselines = ", ".join(dict.fromkeys(comparison.baseline for _, comparison in shown))
    return panel(
        f"against {baselines}",
        "Effects: " + "; ".join(f"{one.label}: {verdict_text(comparison)}" for one, comparison in shown) + ".",
        rows.height_px + forest.AXIS_PX,
        traces,
        x=axis,
        y=rows.axis(),
        annotations=rows.notes,
        shapes=[forest.margin_band(rows, margin), forest.unity(rows)],
    )


def verdict_text(one: Comparison) -> str:
    """The verdict, the effect and its interval in a few words."""
    word = f"{verdict_word(one)}{'†' if one.limited_by else ''}"
    ends = ratio_ends(one.ratio)
    return f"{word}  {ratio(one.ratio.estimate)}" + (f" ({ends})" if ends else "")


def _mark(one: Placed, comparison: Comparison, row: Row) -> Json:
    hover = f"<b>{literal(one.arm.arm)}</b><br>{verdict_text(comparison)}"
    return forest.marked(one.label, comparison.ratio, row, forest.mark_of(comparison.verdict), hover)
