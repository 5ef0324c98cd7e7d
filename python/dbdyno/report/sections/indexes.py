"""What each index costs and gives, beside each other."""

from __future__ import annotations

from rich.text import Text

from dbdyno.analysis.findings import Findings, IndexBenefit, IndexCost, IndexVerdict
from dbdyno.report import numbers
from dbdyno.report.layout import Column, Row, paragraph, table
from dbdyno.report.naming import script_name
from dbdyno.report.sections.arms import title

VERDICT_STYLES = {"keep": "bold green", "drop": "bold red", "no evidence": "bold yellow"}


def indexes(findings: Findings) -> list[Text]:
    """One row for each index under each level of the other factors: without it against with it."""
    rows = [
        (verdict, under)
        for under in dict.fromkeys(cost.under for verdict in findings.indexes for cost in verdict.costs)
        for verdict in findings.indexes
    ]
    if not rows:
        return []
    verdicts = tuple(verdict.verdict for verdict, _ in rows)
    styles = tuple(VERDICT_STYLES[word] for word in verdicts)
    worst = [_worst(verdict, under) for verdict, under in rows]
    sizes = numbers.byte_unit(max(verdict.bytes for verdict in findings.indexes))
    columns = [
        Column(("verdict",), verdicts, words=True, styles=styles),
        Column(("size,", sizes.name), tuple(numbers.in_unit(verdict.bytes, sizes, 1) for verdict, _ in rows)),
        Column(("scans", "a unit"), tuple(_scans(verdict) for verdict, _ in rows)),
        Column((findings.metric.split("_")[0],), _ratios(rows, findings.metric), span="without it"),
        Column(("WAL",), _ratios(rows, "wal_bytes_per_row_written"), span="without it"),
        Column(("HOT, points",), _points(rows, "hot_share"), span="without it"),
        Column(("most slowed",), tuple(script_name(one.script) if one else "" for one in worst), words=True),
        Column(("takes",), tuple(numbers.ratio(one.ratio.estimate) if one else "" for one in worst), "bold"),
    ]
    note = "WAL is that of a row written; HOT are updates that stay on their page; * shown to be saved."
    return [
        *title("Indexes: what each costs and gives"),
        *table([Row(verdict.index, under) for verdict, under in rows], columns),
        *paragraph(Text(note, style="dim")),
    ]


Rows = list[tuple[IndexVerdict, str | None]]


def _scans(verdict: IndexVerdict) -> str:
    return numbers.NOTHING if verdict.scans_per_unit is None else numbers.significant(verdict.scans_per_unit)


def _worst(verdict: IndexVerdict, under: str | None) -> IndexBenefit | None:
    return next((benefit for benefit in verdict.benefits if benefit.under == under), None)


def _cost(verdict: IndexVerdict, under: str | None, figure: str) -> IndexCost | None:
    return next((cost for cost in verdict.costs if (cost.under, cost.figure) == (under, figure)), None)


def _ratios(rows: Rows, figure: str) -> tuple[str, ...]:
    costs = [_cost(verdict, under, figure) for verdict, under in rows]
    return tuple(_marked(numbers.ratio(cost.change.estimate), cost) if cost else numbers.NOTHING for cost in costs)


def _points(rows: Rows, figure: str) -> tuple[str, ...]:
    costs = [_cost(verdict, under, figure) for verdict, under in rows]
    return tuple(_marked(f"{cost.change.estimate * 100:+.1f}", cost) if cost else numbers.NOTHING for cost in costs)


def _marked(text: str, cost: IndexCost) -> str:
    return f"{text}*" if cost.saved else text
