"""Calibrations against each other on a terminal: the answer, what differs, the figures, what to type next."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from dbdyno.analysis.calibrations_compared.findings import (
    FAMILIES,
    CalibrationsComparison,
    Course,
    FigureCompared,
)
from dbdyno.analysis.findings import Estimate
from dbdyno.report import numbers
from dbdyno.report.calibrations_compared.names import figure_name, interval, ratio, unit_of, value
from dbdyno.report.calibrations_compared.words import (
    answer,
    changes,
    difference_words,
    drift_words,
    evidence_words,
    next_steps,
    ratio_words,
    summaries,
    when,
)
from dbdyno.report.layout import WIDTH, Column, Row, paragraph, table
from dbdyno.report.runs_compared.terminal import print_lines
from dbdyno.report.sections.arms import title
from dbdyno.report.sections.effects import VERDICT_STYLES
from dbdyno.report.sections.limits import limits
from dbdyno.report.sentences import Sentence
from dbdyno.report.terminal import STYLES


def render(found: CalibrationsComparison, *, page: str | None = None) -> str:
    """The whole report as plain text."""
    out = io.StringIO()
    print_comparison(found, Console(file=out, width=WIDTH, color_system=None), page=page)
    return out.getvalue()


def print_comparison(found: CalibrationsComparison, console: Console, *, page: str | None) -> None:
    """Print the report; colour only if the console is a terminal."""
    print_lines(_lines(found, page), console)


def _lines(found: CalibrationsComparison, page: str | None) -> Iterator[Text]:
    yield from paragraph(_text(answer(found)), rest="")
    for sentence in changes(found):
        yield from paragraph(_text(sentence), first="- ")
    yield Text()
    for line in summaries(found):
        yield from paragraph(Text(line, style="dim"), rest="   ")
    for section in (
        _differences(found),
        limits(found.warnings, ""),
        *(_figures(found, family) for family in FAMILIES),
        _left_out(found),
        _courses(found),
        _next(found, page),
    ):
        if section:
            yield Text()
            yield from section
    if page is not None:
        yield Text(f"Page: {page}")


def _text(sentence: Sentence) -> Text:
    return Text.assemble(*((span.text, STYLES[span.role]) for span in sentence))


def _differences(found: CalibrationsComparison) -> list[Text]:
    """Before any figure: a ratio of two different things is read otherwise."""
    said = difference_words(found)
    lines = [*title("What differs in the records")] if said else [Text("The records differ in nothing but the day.")]
    for place, words in said:
        lines += paragraph(Text.assemble((f"{place}: ", "bold"), words), first="- ")
    return lines


def _figures(found: CalibrationsComparison, family: str) -> list[Text]:
    """One family: its figures, ratios and verdicts."""
    shown = [one for one in found.figures if one.family == family]
    if not shown:
        return []
    verdicts = tuple("withheld" if one.limited_by else one.verdict for one in shown)
    columns = [
        Column(_side(found), tuple(value(one.figure, one.first.estimate) for one in shown), words=True),
        Column((found.later,), tuple(value(one.figure, one.second.estimate) for one in shown), words=True),
        Column(("ratio",), tuple(ratio(one.ratio.estimate) for one in shown), "bold"),
        Column(("95 % interval",), tuple(interval(one.ratio) for one in shown), "dim", words=True),
        Column(("p (Holm)",), tuple(numbers.p_value(one.p_value_holm) for one in shown)),
        Column(("verdict",), verdicts, words=True, styles=tuple(VERDICT_STYLES.get(word, "") for word in verdicts)),
    ]
    heading = f"{family[0].upper()}{family[1:]}, {ratio_words(found)}; less than {numbers.percent(found.margin)} "
    lines = [*title(f"{heading}does not matter"), *table([Row(figure_name(one.figure)) for one in shown], columns)]
    return [*lines, *_notes(found, shown)]


def _side(found: CalibrationsComparison) -> tuple[str, ...]:
    return (found.reference[0],) if len(found.reference) == 1 else ("mean",)


def _notes(found: CalibrationsComparison, shown: Sequence[FigureCompared]) -> list[Text]:
    """What the intervals are made of stands beneath the first table; what a gain is beneath its own."""
    if shown[0] is found.figures[0]:
        return paragraph(Text(evidence_words(found), style="dim"), rest="")
    if shown[0].figure.phase == "cache_map":
        words = "How many times as long reads all over the file take as those within the span; 1x: no cache."
        return paragraph(Text(words, style="dim"), rest="")
    return []


def _left_out(found: CalibrationsComparison) -> list[Text]:
    reasons: dict[str, list[str]] = {}
    for each in found.left_out:
        reasons.setdefault(each.reason, []).append(figure_name(each.figure))
    lines = [
        line
        for reason, names in reasons.items()
        for line in paragraph(Text.assemble((f"{reason}: ", "bold"), "; ".join(names)), first="- ")
    ]
    return [*title("Figures that are not compared"), *lines] if lines else []


def _courses(found: CalibrationsComparison) -> list[Text]:
    """A row for each calibration, then what is expected of one of an unchanged disk, then the drift."""
    if not found.courses:
        return []
    rows = [Row(f"{one.label}  {when(one).removesuffix(' UTC')}") for one in found.calibrations]
    columns = [column for course in found.courses for column in _course(course)]
    drifts = [line for words in drift_words(found) for line in paragraph(Text(words), first="- ")]
    return [
        *title("The main figures along the time (UTC), and where the next one is expected"),
        *table([*rows, Row("expected")], columns),
        Text(),
        *title("Drift, along a straight line through the logs by time"),
        *drifts,
    ]


def _course(course: Course) -> list[Column]:
    known = [one.estimate for one in course.values if one is not None]
    unit = unit_of(course.figure, known)
    cells = [*course.values, course.expected]
    span = f"{figure_name(course.figure)}{f', {unit.name}' if unit.name else ''}"
    return [
        Column(
            ("estimate",),
            tuple(numbers.in_unit(None if one is None else one.estimate, unit) for one in cells),
            "bold",
            span=span,
        ),
        Column(("95 % interval",), tuple(_ends(one, unit) for one in cells), "dim", words=True, span=span),
    ]


def _ends(one: Estimate | None, unit: numbers.Unit) -> str:
    if one is None or one.low is None or one.high is None:
        return numbers.NOTHING
    low, high = (_end(end / one.estimate, end, unit) for end in (one.low, one.high))
    return f"{low} to {high}"


def _end(away: float, end: float, unit: numbers.Unit) -> str:
    """Beyond what could be said of a ratio nothing is said of the figure."""
    return numbers.in_unit(end, unit) if 0.01 <= away <= 100 else "?"


def _next(found: CalibrationsComparison, page: str | None) -> list[Text]:
    lines = title("What next")
    for step in next_steps(found, page):
        lines += [*paragraph(Text(step.words, style="dim"), rest=""), *map(Text, step.lines)]
    return lines
