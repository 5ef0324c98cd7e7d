"""How far the planner's count of each column is off, and how far ANALYZE would be with larger samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dbdyno.analysis.ndv.findings import WRONG, WRONG_AND_MATTERS
from dbdyno.report.html import forest, palette
from dbdyno.report.html.chart import GREY, Chart, Json, Key, Panel, literal, panel, title
from dbdyno.report.html.ndv.judged import Judged
from dbdyno.report.html.ndv.tables import predictions
from dbdyno.report.html.palette import Fill, Mark
from dbdyno.report.html.rows import Row, lay_out
from dbdyno.report.html.scale import off_axis, ratio_range
from dbdyno.report.ndv.words import count, factor, figure, times

MARKS = {WRONG_AND_MATTERS: Mark(palette.WORSE, "square"), WRONG: Mark(palette.DOUBTFUL, "diamond")}
RIGHT_MARK = Mark(palette.NEUTRAL, "circle")
# By the statistics target, smallest first.
SAMPLES = tuple(map(Mark, palette.SAMPLES, ("triangle-down", "diamond", "triangle-up")))
# A figure is right within a factor of 2: the band reaches from 1/2 to 2.
MARGIN = 1.0
# Of a row: the planner's mark above those of ANALYZE.
PLANNER_PX, ANALYZE_PX = 16, 14
# Right ones beyond the first are drawn on one line, and so are wrong ones where there are very many.
MOST_ROWS, MOST_WRONG = 12, 40
# More rows than these stand in two panels beside each other.
MOST_IN_PANEL = 10

READING = (
    "The line is where the planner would be right; left of it it believes in too few values, right of it in too many. "
    "Within the grey band it is right enough: plans do not turn on less than a factor of 2."
)
SAMPLES_READING = (
    " The smaller marks are samples drawn in the same pass, as ANALYZE draws them at each statistics target: where "
    "that of the highest is still far out, no target helps. Another draw gives other marks, most of all where they are "
    "far out."
)


def chart(every: Sequence[Judged]) -> Chart | None:
    """A row for each column and group, the worst first; None where nothing is compared."""
    if not every:
        return None
    targets = sorted({each.target for one in every for each, _ in one.predicted()})
    axis = off_axis(*ratio_range(list(_ends(every)), MARGIN)) | {
        "title": title("← too low · planner off by · too high →")
    }
    return Chart(
        id="errors",
        short="Planner",
        heading="How far the planner’s counts are off",
        caption=(
            "The planner’s distinct count over the one that was counted, on one logarithmic scale, the worst first; "
            "where no bar is seen, the 95 % interval of the count is narrower than the mark."
            + (" Beneath, what ANALYZE would say with larger and larger samples." if targets else "")
        ),
        reading=READING + (SAMPLES_READING if targets else ""),
        panels=[_panel(part, targets, axis) for part in _halves(_lines(every))],
        keys=_keys(every, targets),
        columns=2,
        tables=[("By how much ANALYZE would be off", table)] if (table := predictions(every)) else [],
    )


def _lines(every: Sequence[Judged]) -> list[Sequence[Judged]]:
    """A line for each, and one for the rest where there are too many."""
    wrong = sum(not one.is_right for one in every)
    most = min(max(wrong, MOST_ROWS), MOST_WRONG)
    alone = len(every) if len(every) <= most + 1 else most
    return [*([one] for one in every[:alone]), *([every[alone:]] if alone < len(every) else [])]


def _halves(lines: list[Sequence[Judged]]) -> list[list[Sequence[Judged]]]:
    if len(lines) <= MOST_IN_PANEL:
        return [lines]
    half = -(-len(lines) // 2)
    return [lines[:half], lines[half:]]


def _ends(every: Iterable[Judged]) -> Iterator[float]:
    for one in every:
        yield from (end for end in (one.off.low, one.off.estimate, one.off.high) if end is not None)
        yield from (off for _, off in one.predicted())


def _panel(lines: Sequence[Sequence[Judged]], targets: Sequence[int], axis: Json) -> Panel:
    labels = [_label(line) for line in lines]
    rows = lay_out(labels, PLANNER_PX + (ANALYZE_PX if targets else 0))
    traces = [
        trace
        for line, row in zip(lines, rows.rows, strict=True)
        for one in line
        for trace in _traces(one, row, targets)
    ]
    return panel(
        None,
        "Planner off by: " + "; ".join(f"{name}: {value}" for name, value in labels) + ".",
        rows.height_px + forest.AXIS_PX,
        traces,
        x=axis,
        y=rows.axis(),
        annotations=rows.notes,
        shapes=[forest.margin_band(rows, MARGIN), forest.unity(rows)],
    )


def _label(line: Sequence[Judged]) -> tuple[str, str]:
    if len(line) == 1:
        return line[0].name, said(line[0])
    if all(one.is_right for one in line):
        return f"{len(line)} more", "right"
    return f"{len(line)} more", f"off by {times(max(one.one.error_factor or 1.0 for one in line))} and less"


def said(one: Judged) -> str:
    """In a few words."""
    if one.is_right:
        return "right" if (one.one.error_factor or 1.0) < 1.05 else f"right, {factor(one.one)}"
    return f"{factor(one.one)}{', matters' if one.one.verdict == WRONG_AND_MATTERS else ''}"


def _traces(one: Judged, row: Row, targets: Sequence[int]) -> Iterator[Json]:
    planner = one.one.planner or 0.0
    words = f"<b>{literal(one.name)}</b><br>{literal(said(one))}<br>planner {count(planner)}, counted {_counted(one)}"
    upper = Row(row.top_px, row.band_top_px, row.band_top_px + PLANNER_PX)
    if one.predicted():
        yield _predicted(one, row.band_top_px + PLANNER_PX + ANALYZE_PX / 2, targets)
    yield forest.marked(one.name, one.off, upper, MARKS.get(one.one.verdict, RIGHT_MARK), words, size_px=10)


def _counted(one: Judged) -> str:
    return figure(one.one.ndv, exact=one.one.exact)


def _predicted(one: Judged, y_px: float, targets: Sequence[int]) -> Json:
    """A mark for each target, joined in their order."""
    predicted = one.predicted()
    marks = [_sample_mark(each.target, targets) for each, _ in predicted]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": literal(one.name),
        "x": [off for _, off in predicted],
        "y": [y_px] * len(predicted),
        "line": {"color": GREY, "width": 1},
        "marker": {"symbol": [mark.symbol for mark in marks], "color": [mark.colour for mark in marks], "size": 8},
        "text": [
            f"<b>{literal(one.name)}</b><br>ANALYZE at target {each.target:,}: {count(each.ndv)}, "
            f"counted {_counted(one)}"
            for each, _ in predicted
        ],
        "hovertemplate": "%{text}<extra></extra>",
        "cliponaxis": False,
    }


def _sample_mark(target: int, targets: Sequence[int]) -> Mark:
    return SAMPLES[min(targets.index(target), len(SAMPLES) - 1)]


def _keys(every: Sequence[Judged], targets: Sequence[int]) -> list[Key]:
    verdicts = {one.one.verdict for one in every}
    words = {WRONG_AND_MATTERS: "planner, wrong and it matters", WRONG: "planner, wrong"}
    return [
        *(Key(said, MARKS[verdict]) for verdict, said in words.items() if verdict in verdicts),
        *([Key("planner, right", RIGHT_MARK)] if any(one.is_right for one in every) else []),
        *(Key(f"ANALYZE at target {target:,}", _sample_mark(target, targets)) for target in targets),
        Key("within a factor of 2", Fill(palette.BAND_KEY)),
    ]
