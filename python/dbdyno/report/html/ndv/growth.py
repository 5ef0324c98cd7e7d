"""How the number of different values grew over the scan, and the ratio or constant that follows."""

from __future__ import annotations

from collections.abc import Sequence

from dbdyno.analysis.ndv.findings import CONSTANT, RATIO, UNIQUE, ColumnFindings, Forecast, Growth, NdvFindings
from dbdyno.report import numbers
from dbdyno.report.html import palette
from dbdyno.report.html.calibration.drawing import from_zero
from dbdyno.report.html.chart import Chart, Json, Key, Panel, literal, panel, title
from dbdyno.report.html.ndv.judged import Judged
from dbdyno.report.html.palette import Mark, Stroke
from dbdyno.report.html.table import Cell, Column, Section, Table
from dbdyno.report.ndv.words import count

HEIGHT_PX = 190
# Beyond these the tables have the sentences, and the curves.
MOST_WORDS, MOST_PANELS = 6, 12
SEEN = Mark(palette.BETTER, "circle")
STORED = Stroke(palette.MENDED, "solid")
# What a table that goes on growing would have, by each of the two.
AS_RATIO, AS_CONSTANT = Stroke(palette.NEUTRAL, "dash"), Stroke(palette.NEUTRAL, "dot")
# The picture goes on to half as many rows again, where the two part.
BEYOND = 150.0

DRAWN = (
    "The scan goes from the first row to the last, so it is a small history of the table. A curve along the dashed "
    "line brings values as fast as rows: a ratio. A curve that bends into the dotted line has met its values: a "
    "constant. Where rows lie in the order of the values the curve is straight whatever the truth, and other evidence "
    "decides, as its sentence says."
)
MENDED = (
    " Where a ratio is stored the planner multiplies it by the rows it sees, so it holds when the table grows; the "
    "green line is what it will believe then."
)
UNKNOWN = (
    "The rows did not come in the order in which they lie, so nobody saw the values grow. What is not unique goes by "
    "ANALYZE's own rule: a ratio where there are more values than a tenth of the rows, else a constant."
)


def chart(found: NdvFindings, every: Sequence[Judged]) -> Chart | None:
    """A small panel for each column that is to be mended; None where none is, or no growth is known.

    Without a planner there is nothing to mend, and each column has one whose values repeat.
    """
    grown = _mended(every) if every else _repeating(found)
    if not grown:
        return None
    drawn = [(column, growth) for column, growth in grown if len(growth.points) > 1][:MOST_PANELS]
    beyond = "; to the right of 100 %, what the planner will believe with the fix when the table has grown"
    return Chart(
        id="growth",
        short="Growth",
        heading="Ratio or constant?",
        words=[(column.column, _sentence(column, growth)) for column, growth in grown[:MOST_WORDS]],
        caption="Different values after each tenth of the rows, in the order in which they lie"
        + (f"{beyond}." if every else "."),
        reading=DRAWN + (MENDED if every else "") if drawn else UNKNOWN,
        panels=[_panel(column, growth, found.rows) for column, growth in drawn],
        keys=[
            Key("counted", SEEN),
            *([Key("with the fix, as the table grows", STORED)] if every else []),
            Key("as a ratio", AS_RATIO),
            Key("as a constant", AS_CONSTANT),
        ],
        columns=3,
        tables=_tables(found),
    )


def _mended(every: Sequence[Judged]) -> list[tuple[ColumnFindings, Growth]]:
    columns = [one.one for one in every if isinstance(one.one, ColumnFindings)]
    return [(one, one.growth) for one in columns if one.growth is not None and one.fix is not None]


def _repeating(found: NdvFindings) -> list[tuple[ColumnFindings, Growth]]:
    return [(one, one.growth) for one in found.columns if one.growth is not None and one.growth.evidence != UNIQUE]


def _form(growth: Growth) -> str:
    return f"a {growth.form}{' to the rows' if growth.form == RATIO else ''}"


def _sentence(column: ColumnFindings, growth: Growth) -> str:
    """What the evidence says, and where ANALYZE alone is the fix and stores the other."""
    if column.fix_n_distinct is None:
        return f"{_form(growth)}, {growth.words}."
    stored = RATIO if column.fix_n_distinct < 0 else CONSTANT
    other = "" if stored == growth.form else f"; ANALYZE, which is right for the present, stores a {stored}"
    return f"{_form(growth)}, {growth.words}{other}."


def _panel(column: ColumnFindings, growth: Growth, rows: int) -> Panel:
    last = growth.points[-1].ndv
    grown = BEYOND / 100
    fixed = [_believed(column.fix_n_distinct, rows * share) for share in (1.0, grown) if column.fix_n_distinct]
    most = max(last * grown, *fixed, *(point.ndv for point in growth.points))
    return panel(
        f"{column.column}: {_form(growth)}",
        f"{column.column}, different values over the rows: "
        + "; ".join(f"{100 * point.rows / rows:.0f} %: {count(point.ndv)}" for point in growth.points)
        + ".",
        HEIGHT_PX,
        [
            _guide("as a ratio", AS_RATIO, [0, BEYOND], [0, last * grown]),
            _guide("as a constant", AS_CONSTANT, [0, BEYOND], [last, last]),
            *([_guide("with the fix", STORED, [100, BEYOND], fixed)] if fixed else []),
            _curve(column, growth, rows),
        ],
        x={
            "range": [0, BEYOND],
            "tickvals": [0, 50, 100],
            "ticktext": ["0", "50", "100 % of the rows"],
            "showgrid": False,
            "showline": True,
        },
        y=from_zero("", most) | {"tickformat": "~s", "title": title("")},
    )


def _believed(stored: float, rows: float) -> float:
    """What the planner makes of a stored figure with so many rows: a negative one is a ratio."""
    return -stored * rows if stored < 0 else stored


def _guide(name: str, stroke: Stroke, x: Sequence[float], y: Sequence[float]) -> Json:
    return {
        "type": "scatter", "mode": "lines", "name": name, "x": list(x), "y": list(y), "hoverinfo": "skip",
        "line": {"color": stroke.colour, "width": 2.4 if stroke == STORED else 1.2, "dash": stroke.dash},
    }  # fmt: skip


def _curve(column: ColumnFindings, growth: Growth, rows: int) -> Json:
    shares = [100 * point.rows / rows for point in growth.points]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": literal(column.column),
        "x": [0, *shares],
        "y": [0, *(point.ndv for point in growth.points)],
        "line": {"color": SEEN.colour, "width": 2},
        "marker": {"color": SEEN.colour, "symbol": SEEN.symbol, "size": 6},
        "text": [
            "",
            *(
                f"after {share:.0f} % of the rows: {count(point.ndv)}"
                for share, point in zip(shares, growth.points, strict=True)
            ),
        ],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _tables(found: NdvFindings) -> list[tuple[str, Table]]:
    grown = [(column, column.growth) for column in found.columns if column.growth is not None]
    curves = [(column, growth) for column, growth in grown if growth.points]
    return [
        *([("The curves of all columns as figures", _curves(curves, found.rows))] if curves else []),
        ("Ratio or constant, column by column", _forms(grown)),
    ]


def _curves(curves: Sequence[tuple[ColumnFindings, Growth]], rows: int) -> Table:
    shares = sorted({round(100 * point.rows / rows) for _, growth in curves for point in growth.points})
    lines = []
    for column, growth in curves:
        at = {round(100 * point.rows / rows): count(point.ndv) for point in growth.points}
        lines.append([Cell(column.column), *(Cell(at.get(share, numbers.NOTHING)) for share in shares)])
    return Table(
        "curves", [Column("column", figures=False), *(Column(f"{share} %") for share in shares)], [Section(None, lines)]
    )


def _forms(grown: Sequence[tuple[ColumnFindings, Growth]]) -> Table:
    forecasts = any(column.forecast is not None for column, _ in grown)
    rows = [
        [
            Cell(column.column),
            Cell(growth.form, growth.evidence.replace("_", " ")),
            Cell(numbers.NOTHING if growth.elasticity is None else f"{growth.elasticity:.2f}"),
            *([Cell(_holds(column.forecast)), Cell(_holds(column.forecast_after_fix))] if forecasts else []),
            Cell(growth.words),
        ]
        for column, growth in grown
    ]
    columns = [
        Column("column", figures=False),
        Column("form", figures=False),
        Column("elasticity"),
        *(Column("wrong by 2", when, figures=False) for when in ("as stored", "with the fix") if forecasts),
        Column("because", figures=False),
    ]
    return Table("forms", columns, [Section(None, rows)])


def _holds(forecast: Forecast | None) -> str:
    """From when on a figure is wrong by 2."""
    if forecast is None:
        return ""
    if forecast.now:
        return "now"
    if forecast.rows is None:
        return "not within 1,000 times the rows"
    days = "" if forecast.days is None else f", in {numbers.count(forecast.days, 'day')}"
    return f"at {count(forecast.rows)} rows{days}"
