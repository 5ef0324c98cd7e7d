"""Calibrations compared: a forest of ratios, family by family, and each main figure along the time."""

from __future__ import annotations

from collections.abc import Sequence

from dbdyno.analysis.calibrations_compared.findings import (
    FAMILIES,
    CalibrationsComparison,
    CalibrationSummary,
    Course,
    FigureCompared,
)
from dbdyno.analysis.findings import Estimate
from dbdyno.report import numbers
from dbdyno.report.calibrations_compared.names import figure_name, interval, ratio, unit_of, value
from dbdyno.report.calibrations_compared.words import evidence_words, ratio_words, when
from dbdyno.report.html import forest, palette
from dbdyno.report.html.calibration.drawing import REACH, bars, highest, lowest
from dbdyno.report.html.chart import BAND, GREY, Chart, Json, Key, Panel, literal, panel
from dbdyno.report.html.palette import Fill, Mark
from dbdyno.report.html.rows import Row, lay_out
from dbdyno.report.html.scale import dated_axis, ratio_axis, ratio_range
from dbdyno.report.html.table import Cell, Column, Section, Table

BAND_PX, HEIGHT_PX = 16, 200
# Few calibrations give intervals over powers of ten; beyond these ratios a bar is cut, and the table has its end.
LEAST_SHOWN, MOST_SHOWN = 0.2, 5.0


def ratios(found: CalibrationsComparison) -> Chart:
    """Ratios with their intervals; one scale for all panels."""
    axis = ratio_axis(*ratio_range([end for one in found.figures for end in _shown(one.ratio)], found.margin))
    panels = [
        _family(family, shown, found.margin, axis)
        for family in FAMILIES
        if (shown := [one for one in found.figures if one.family == family])
    ]
    cut = any(
        end is not None and not LEAST_SHOWN <= end <= MOST_SHOWN for one in found.figures for end in _ends(one.ratio)
    )
    return Chart(
        id="ratios",
        short="Ratios",
        heading=f"What changed: {ratio_words(found)}",
        caption=f"Ratios of all figures on one logarithmic scale. {evidence_words(found)}"
        + (" Where a bar ends at the edge, the table has its end." if cut else ""),
        reading=(
            "The line at 1x means no change. Of rates right of it is better, of times left of it: the colour says "
            "which, where it is decided. A mark clear of the grey band is a change large enough to matter; a bar that "
            "holds 1x is no proof of no change. Holm's correction is within each panel."
        ),
        panels=sorted(panels, key=lambda one: one.height_px),  # neighbours of about one height leave no holes
        keys=[*forest.verdict_keys(), forest.margin_key(found.margin)],
        columns=2,
    )


def _family(family: str, shown: Sequence[FigureCompared], margin: float, axis: Json) -> Panel:
    rows = lay_out([(figure_name(one.figure), _words(one)) for one in shown], BAND_PX)
    return panel(
        family,
        f"Ratios of {family}: " + "; ".join(f"{figure_name(one.figure)}: {_words(one)}" for one in shown) + ".",
        rows.height_px + forest.AXIS_PX,
        [_mark(one, row) for one, row in zip(shown, rows.rows, strict=True)],
        x=axis,
        y=rows.axis(),
        annotations=rows.notes,
        shapes=[forest.margin_band(rows, margin), forest.unity(rows)],
    )


def _words(one: FigureCompared) -> str:
    word = "withheld" if one.limited_by else one.verdict
    return f"{word}  {ratio(one.ratio.estimate)}"


def _ends(one: Estimate) -> tuple[float | None, ...]:
    return (one.low, one.estimate, one.high)


def _shown(one: Estimate) -> list[float]:
    return [_cut(end) for end in _ends(one) if end is not None]


def _cut(end: float) -> float:
    return min(max(end, LEAST_SHOWN), MOST_SHOWN)


def _mark(one: FigureCompared, row: Row) -> Json:
    first, second = (value(one.figure, each.estimate) for each in (one.first, one.second))
    hover = literal(
        f"{figure_name(one.figure)}: {first}, then {second}; {ratio(one.ratio.estimate)} {interval(one.ratio)}"
    )
    low, at, high = (None if end is None else _cut(end) for end in _ends(one.ratio))
    shown = Estimate(at or 1.0, low, high)
    return forest.marked(figure_name(one.figure), shown, row, forest.mark_of(one.verdict), hover, size_px=8)


def along_the_time(found: CalibrationsComparison) -> Chart | None:
    """A small panel for each main figure; None of two calibrations."""
    if not found.courses:
        return None
    return Chart(
        id="courses",
        short="Along the time",
        heading="The main figures, calibration after calibration",
        caption=(
            "Estimates with 95 % intervals over the blocks of each calibration, in the order in which they were "
            "measured, one step apart whatever time lay between them. Where a bar leaves the picture, the table "
            "has its end."
        ),
        reading=(
            "A bar through a mark knows how blocks within that calibration varied, and nothing of how days do. The "
            "grey band is made from how the calibrations before the last differ: of an unchanged disk the last one "
            "lies in it 95 times of 100. The scales do not begin at zero, so that small changes show."
        ),
        panels=[_course(course, found.calibrations) for course in found.courses],
        keys=[
            Key("a calibration, with its 95 % interval", Mark(palette.BETTER, "circle")),
            Key("where one of an unchanged disk is expected", Fill(palette.BAND_KEY)),
        ],
        columns=2,
        tables=[("The same as figures", _table(found))],
    )


def _table(found: CalibrationsComparison) -> Table:
    """A row for each calibration, and one for what is expected."""
    labels = [f"{one.label}, {when(one)}" for one in found.calibrations]
    rows = [
        [Cell(label), *(_cell(course, course.values[place]) for course in found.courses)]
        for place, label in enumerate(labels)
    ]
    rows.append([Cell("expected"), *(_cell(course, course.expected) for course in found.courses)])
    columns = [Column("calibration", figures=False), *(Column(figure_name(one.figure)) for one in found.courses)]
    return Table("courses", columns, [Section(None, rows)])


def _cell(course: Course, of: Estimate | None) -> Cell:
    return Cell(numbers.NOTHING) if of is None else Cell(value(course.figure, of.estimate), _within(course, of))


def _within(course: Course, of: Estimate) -> str:
    """The ends of an interval with their units; empty where there is none."""
    if of.low is None or of.high is None:
        return ""
    return f"{value(course.figure, of.low)} to {value(course.figure, of.high)}"


def _course(course: Course, every: Sequence[CalibrationSummary]) -> Panel:
    known = [(place, one) for place, one in enumerate(course.values) if one is not None]
    values = [one for _, one in known]
    unit = unit_of(course.figure, [one.estimate for one in values])
    spoken = "; ".join(f"{every[place].label}: {value(course.figure, one.estimate)}" for place, one in known)
    name = f"{figure_name(course.figure)}{f', {unit.name}' if unit.name else ''}"
    ends = (lowest(values) / unit.size, highest(values) / unit.size)
    trace: Json = {
        "type": "scatter",
        "mode": "lines+markers",
        "name": literal(name),
        "x": [place for place, _ in known],
        "y": [one.estimate / unit.size for one in values],
        "error_y": bars(values, palette.BETTER, unit.size),
        "marker": {"color": palette.BETTER, "symbol": "circle", "size": 8},
        "line": {"color": GREY, "width": 1},
        "text": [_hover(course, every[place], one) for place, one in known],
        "hovertemplate": "%{text}<extra></extra>",
    }
    return panel(
        name,
        f"{name}, calibration after calibration: {spoken}.",
        HEIGHT_PX,
        [trace],
        x=dated_axis([one.label for one in every], [one.measured_at for one in every]),
        y={"nticks": 5, "tickformat": ",~r", "range": _range(course, ends, unit)},
        shapes=_expected(course, unit),
    )


def _hover(course: Course, one: CalibrationSummary, of: Estimate) -> str:
    within = f" ({ends})" if (ends := _within(course, of)) else ""
    return f"<b>{literal(one.label)}</b>: {value(course.figure, of.estimate)}{within}<br>{when(one)}, {one.quality}"


def _range(course: Course, ends: tuple[float, float], unit: numbers.Unit) -> list[float]:
    """All bars, and the band as far as it does not press them flat."""
    low, high = ends
    if course.expected is not None and course.expected.low is not None and course.expected.high is not None:
        low = min(low, max(course.expected.low / unit.size, low / REACH))
        high = max(high, min(course.expected.high / unit.size, high * REACH))
    air = (high - low) * 0.06 or high * 0.05
    return [max(low - air, 0.0), high + air]


def _expected(course: Course, unit: numbers.Unit) -> list[Json]:
    one = course.expected
    if one is None or one.low is None or one.high is None:
        return []
    return [
        {
            "type": "rect", "x0": 0, "x1": 1, "xref": "paper", "y0": one.low / unit.size, "y1": one.high / unit.size,
            "fillcolor": BAND, "line": {"width": 0}, "layer": "below",
        }
    ]  # fmt: skip
