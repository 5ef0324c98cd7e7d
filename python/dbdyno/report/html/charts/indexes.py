"""Cost against benefit: for each index what is saved without it, and how much the most harmed transaction loses."""

from __future__ import annotations

from collections.abc import Iterator

from dbdyno.analysis.findings import Estimate, Findings, IndexBenefit, IndexCost, IndexVerdict
from dbdyno.report.html import forest, palette
from dbdyno.report.html.chart import Chart, Json, Key, Panel, literal, panel
from dbdyno.report.html.index_tables import benefits_table, costs_table, verdicts_table
from dbdyno.report.html.palette import Mark
from dbdyno.report.html.quantity import ratio_ends
from dbdyno.report.html.rows import Row, lay_out
from dbdyno.report.html.scale import ratio_axis, ratio_range
from dbdyno.report.naming import script_name
from dbdyno.report.numbers import ratio

BAND_PX = 24

BENEFIT, WAL = Mark(palette.WORSE, "square"), Mark(palette.BETTER, "diamond")
FIGURE = "wal_bytes_per_row_written"


def chart(findings: Findings) -> Chart | None:
    """One panel for each level of the other factors; None where no index was weighed."""
    if not findings.indexes:
        return None
    unders = list(dict.fromkeys(cost.under for verdict in findings.indexes for cost in verdict.costs))
    shown = [estimate for verdict in findings.indexes for under in unders for _, _, estimate in _marks(verdict, under)]
    axis = ratio_axis(*ratio_range([end for estimate in shown for end in _ends(estimate)], findings.margin))
    tables = [
        ("The verdicts, and the DDL", verdicts_table(findings)),
        ("What each index costs", costs_table(findings)),
        ("Which transactions need it", benefits_table(findings)),
    ]
    return Chart(
        id="indexes",
        short="Indexes",
        heading="What each index costs, and what it gives",
        caption="Ratios without the index / with it, with their 95 % intervals, on one logarithmic scale.",
        reading=(
            "Each row is one index taken away. The diamond is the WAL that a row written costs without it: left of the "
            "line at 1x is what could be saved. The square is the response time of the kind of transaction that its "
            "absence harms most: right of the line is what the index gives. An index without a square was used by no "
            "transaction."
        ),
        panels=[_panel(findings, under, axis) for under in unders],
        keys=[
            Key("most harmed transaction: response time", BENEFIT),
            Key("WAL per row written", WAL),
        ],
        tables=[(words, table) for words, table in tables if table is not None],
    )


Marked = tuple[Mark, str, Estimate]  # how it is drawn, what it is, its ratio


def _marks(verdict: IndexVerdict, under: str | None) -> Iterator[Marked]:
    worst = _worst(verdict, under)
    if worst is not None:
        yield BENEFIT, script_name(worst.script), worst.ratio
    cost = _cost(verdict, under)
    if cost is not None:
        yield WAL, "WAL per row written", cost.change


def _worst(verdict: IndexVerdict, under: str | None) -> IndexBenefit | None:
    return next((benefit for benefit in verdict.benefits if benefit.under == under), None)


def _cost(verdict: IndexVerdict, under: str | None) -> IndexCost | None:
    return next((cost for cost in verdict.costs if (cost.under, cost.figure) == (under, FIGURE)), None)


def _ends(effect: Estimate) -> list[float]:
    return [value for value in (effect.low, effect.estimate, effect.high) if value is not None]


def _panel(findings: Findings, under: str | None, axis: Json) -> Panel:
    labels = [(verdict.index, _words(verdict, under)) for verdict in findings.indexes]
    rows = lay_out(labels, BAND_PX)
    traces = [
        _trace(verdict, marked, row)
        for verdict, row in zip(findings.indexes, rows.rows, strict=True)
        for marked in _marks(verdict, under)
    ]
    return panel(
        under,
        "Indexes: " + "; ".join(f"{name}: {words}" for name, words in labels) + ".",
        rows.height_px + forest.AXIS_PX,
        traces,
        x=axis,
        y=rows.axis(),
        annotations=rows.notes,
        shapes=[forest.unity(rows)],
    )


def _words(verdict: IndexVerdict, under: str | None) -> str:
    worst = _worst(verdict, under)
    harmed = f"{script_name(worst.script)} {ratio(worst.ratio.estimate)}" if worst is not None else "not used"
    return f"{verdict.verdict}; {harmed}"


def _trace(verdict: IndexVerdict, marked: Marked, row: Row) -> Json:
    mark, what, effect = marked
    hover = (
        f"<b>{literal(verdict.index)}</b><br>{literal(what)} {ratio(effect.estimate)} without it"
        f"<br>{ratio_ends(effect)}"
    )
    return forest.marked(what, effect, row, mark, hover)
