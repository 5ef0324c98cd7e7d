"""What was not asked first: whether an effect depends on another factor, and the metrics that the run did not name."""

from __future__ import annotations

from rich.text import Text

from dbdyno.analysis.findings import Exploratory, Findings, Interaction
from dbdyno.report import numbers
from dbdyno.report.layout import Column, Row, paragraph, table
from dbdyno.report.naming import ArmNames
from dbdyno.report.sections.arms import title
from dbdyno.report.sentences import METRIC_NAMES

SHORT_METRICS = {
    "throughput_per_s": ("throughput",),
    "rows_per_s": ("rows/s",),
    "bytes_per_s": ("bytes/s",),
    "elapsed_ns": ("elapsed",),
    "response_time_ns_mean": ("mean",),
    "response_time_ns_p50": ("p50",),
    "response_time_ns_p95": ("p95",),
    "response_time_ns_p99": ("p99",),
}


def interactions(findings: Findings, names: ArmNames) -> list[Text]:
    """The effect under one level of another factor over that under another."""
    found = findings.interactions
    if not found:
        return []
    rows = [Row(names.short(one.arm), _groups(one, names)) for one in found]
    intervals = tuple(numbers.interval(one.ratio.low, one.ratio.high) for one in found)
    columns = [
        Column(("ratio of", "effects"), tuple(numbers.ratio(one.ratio.estimate) for one in found), "bold"),
        Column(("95 % interval",), intervals, "dim", words=True),
        Column(("p (Holm)",), tuple(numbers.p_value(one.p_value_holm) for one in found)),
        Column(("",), tuple("differs" if one.told else "not told" for one in found), words=True),
    ]
    heading = f"Does the effect on {METRIC_NAMES[findings.metric]} depend on the other factor?"
    return [*title(heading), *table(rows, columns)]


def _groups(one: Interaction, names: ArmNames) -> str:
    return f"{names.group(one.arm) or one.arm} against {names.group(one.other_arm) or one.other_arm}"


def exploratory(findings: Findings, names: ArmNames) -> list[Text]:
    """A row for each pair, a column for each metric; a star where it is told from no difference."""
    found = findings.exploratory
    if not found:
        return []
    by_pair: dict[tuple[str, str], dict[str, Exploratory]] = {}
    for one in found:
        by_pair.setdefault((one.arm, one.baseline), {})[one.metric] = one
    place = {arm.arm: order for order, arm in enumerate(names.grouped(findings.arms))}
    pairs = sorted(by_pair, key=lambda pair: place[pair[0]])
    rows = [Row(names.short(arm), names.group(arm)) for arm, _ in pairs]
    metrics = list(dict.fromkeys(one.metric for one in found))
    columns = [
        Column(SHORT_METRICS[metric], tuple(_cell(by_pair[pair][metric]) for pair in pairs)) for metric in metrics
    ]
    baselines = [names.short(baseline) for _, baseline in pairs]
    heading = "Other metrics, exploratory: ratios, no verdicts"
    if len(set(baselines)) == 1:
        heading = f"Other metrics against {baselines[0]}, exploratory: ratios, no verdicts"
    else:
        columns.append(Column(("against",), tuple(baselines), words=True))
    note = "* differs; at most 5 % of all stars are false (Benjamini and Hochberg). Of response times, 1.1x is slower."
    return [*title(heading), *table(rows, columns), *paragraph(Text(note, style="dim"))]


def _cell(one: Exploratory) -> str:
    return numbers.ratio(one.ratio.estimate) + ("*" if one.told else " ")
