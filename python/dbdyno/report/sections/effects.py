"""Each comparison with its interval and verdict."""

from __future__ import annotations

from rich.text import Text

from dbdyno.analysis.findings import Comparison, Findings
from dbdyno.report import numbers
from dbdyno.report.layout import Column, Row, table
from dbdyno.report.naming import ArmNames
from dbdyno.report.sections.arms import title
from dbdyno.report.sentences import METRIC_NAMES, verdict_word

VERDICT_STYLES = {"better": "bold green", "worse": "bold red", "undecided": "bold yellow", "withheld": "bold yellow"}


def effects(findings: Findings, names: ArmNames) -> list[Text]:
    """Each comparison with its interval and verdict."""
    comparisons = _in_order(findings, names)
    if not comparisons:
        return []
    rows = [Row(names.short(comparison.arm), names.group(comparison.arm)) for comparison in comparisons]
    verdicts = tuple(verdict_word(comparison) + ("*" if comparison.limited_by else "") for comparison in comparisons)
    intervals = tuple(numbers.interval(one.ratio.low, one.ratio.high) for one in comparisons)
    styles = tuple(VERDICT_STYLES.get(verdict_word(one), "") for one in comparisons)
    baselines = tuple(names.short(one.baseline) for one in comparisons)
    columns = [
        Column(("ratio",), tuple(numbers.ratio(one.ratio.estimate) for one in comparisons), "bold"),
        Column(("95 % interval",), intervals, "dim", words=True),
        Column(("p (Holm)",), tuple(numbers.p_value(one.p_value_holm) for one in comparisons)),
        Column(("verdict",), verdicts, words=True, styles=styles),
    ]
    heading = f"Effect on {METRIC_NAMES[findings.metric]}"
    if len(set(baselines)) == 1:
        heading += f" against {baselines[0]}"
    else:
        columns.append(Column(("against",), baselines, words=True))
    heading += f"; less than {numbers.percent(findings.margin)} does not matter"
    note = [Text("* see the warnings", style="dim")] if any(one.limited_by for one in comparisons) else []
    return [*title(heading), *table(rows, columns), *note]


def _in_order(findings: Findings, names: ArmNames) -> list[Comparison]:
    place = {arm.arm: order for order, arm in enumerate(names.grouped(findings.arms))}
    return sorted(findings.comparisons, key=lambda comparison: place[comparison.arm])
