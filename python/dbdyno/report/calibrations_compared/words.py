"""Whether the disk changed, what of it, and what to type next, in words that the terminal and the page share."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import UTC, datetime

from dbdyno.analysis.calibrations_compared.findings import (
    CHANGED,
    CHANGED_IN_PART,
    MAIN,
    NO_CONCLUSION,
    ONE_EACH,
    SAME,
    CalibrationsComparison,
    CalibrationSummary,
    FigureCompared,
)
from dbdyno.report import numbers
from dbdyno.report.calibrations_compared.names import figure_name, interval, ratio, value
from dbdyno.report.runs_compared.words import grouped
from dbdyno.report.sentences import Sentence, Span

QUESTION = "Did the disk change? "
# Of further figures so many are named, the greatest changes first.
MOST_NAMED = 6


def answer(found: CalibrationsComparison) -> Sentence:
    """Yes, no, or why it cannot be told."""
    two = [Span("These are not of one storage. ", "open")] if _elsewhere(found) else []
    return [*two, Span(QUESTION), *_answer(found)]


def _elsewhere(found: CalibrationsComparison) -> bool:
    return any(warning.code == "other_place" for warning in found.warnings)


def _answer(found: CalibrationsComparison) -> Sentence:
    margin = numbers.percent(found.margin)
    usual = f"{numbers.count(_calibrations(found), 'calibration')} of this storage"
    if found.answer == CHANGED:
        return [Span("Yes", "worse" if found.worse else "better"), Span(f", by more than {usual} differ anyway.")]
    if found.answer == CHANGED_IN_PART:
        return [
            Span("In part", "open"),
            Span(f": no main figure, but some others differ by more than those of {usual} do anyway."),
        ]
    if found.answer == SAME:
        return [Span("No", "estimate"), Span(f": every main figure is within {margin} of what it was.")]
    if found.answer == ONE_EACH:
        many = len(found.calibrations) > 2
        each = "one calibration before the last whose checks held" if many else "one calibration each"
        return [
            Span("It cannot be told", "open"),
            Span(
                f": there is only {each}. How much calibrations of an unchanged disk differ from day to "
                f"day is not known here; by their blocks alone {_by_blocks(found)}."
            ),
        ]
    if found.answer == NO_CONCLUSION:
        return [
            Span("It cannot be told", "open"),
            Span(": checks of a calibration that is needed for it did not hold, so there is no verdict."),
        ]
    return [
        Span("Not by more than it does from day to day", "estimate"),
        Span(
            f": no figure differs by more than those of {usual} do anyway. That is no proof of no change: one within "
            "the intervals below would not be seen."
        ),
    ]


def _calibrations(found: CalibrationsComparison) -> int:
    return max((one.calibrations for one in found.figures), default=0)


def _by_blocks(found: CalibrationsComparison) -> str:
    main = [one for one in found.figures if one.family == MAIN]
    differ = [one for one in main if one.verdict in ("better", "worse")]
    if not differ:
        return f"no main figure of the two differs by more than {numbers.percent(found.margin)} for certain"
    return f"{len(differ)} of {numbers.count(len(main), 'main figure')} differ"


def changes(found: CalibrationsComparison) -> list[Sentence]:
    """A sentence for each main figure that is better or worse, and one for the further ones."""
    main = [one for one in found.decided if one.family == MAIN]
    others = [one for one in found.decided if one.family != MAIN]
    said = [_changed(one) for one in main]
    if others:
        said.append(_further(others, sum(one.family != MAIN for one in found.figures)))
    return said


def _changed(one: FigureCompared) -> Sentence:
    word = Span(one.verdict, "better" if one.verdict == "better" else "worse")
    return [
        Span(figure_name(one.figure), "arm"),
        Span(" is "),
        word,
        Span(f": {value(one.figure, one.first.estimate)}, then {value(one.figure, one.second.estimate)}, "),
        Span(ratio(one.ratio.estimate), "estimate"),
        Span(f" {interval(one.ratio)}", "bound"),
        Span("."),
    ]


def _further(others: Sequence[FigureCompared], of: int) -> Sentence:
    counts = [(word, sum(one.verdict == word for one in others)) for word in ("worse", "better")]
    listed = " and ".join(f"{count} {'is' if count == 1 else 'are'} {word}" for word, count in counts if count)
    by_size = sorted(others, key=lambda one: -max(one.ratio.estimate, 1 / one.ratio.estimate))
    named = "; ".join(f"{figure_name(one.figure)} {ratio(one.ratio.estimate)}" for one in by_size[:MOST_NAMED])
    rest = f" and {len(others) - MOST_NAMED} more" if len(others) > MOST_NAMED else ""
    return [Span(f"Of {numbers.count(of, 'further figure')} {listed}: {named}{rest}.")]


def gate_words(found: CalibrationsComparison) -> str:
    """One line: what tripped the gate, or that nothing did, and on what evidence."""
    by = "" if _calibrations(found) else "; by the blocks of one calibration each, day to day is not known"
    tripped = [one for one in found.figures if one.figure in found.worse]
    if tripped:
        said = "; ".join(
            f"{figure_name(one.figure)} {ratio(one.ratio.estimate)} {interval(one.ratio)}" for one in tripped
        )
        return f"gate: {found.later} is worse than {reference_words(found)}: {said}{by}"
    main = sum(one.family == MAIN for one in found.figures)
    withheld = "; no verdict: checks did not hold" if found.answer == NO_CONCLUSION else ""
    return f"gate: holds: no verdict of {numbers.count(main, 'main figure')} is worse{withheld}{by}"


def reference_words(found: CalibrationsComparison) -> str:
    """What the later one is compared with: `A`, `1 to 4`, `1, 2 and 4`."""
    labels = found.reference
    if len(labels) > 2 and [*map(int, labels)] == [*range(int(labels[0]), int(labels[-1]) + 1)]:
        return f"{labels[0]} to {labels[-1]}"
    return labels[0] if len(labels) == 1 else f"{', '.join(labels[:-1])} and {labels[-1]}"


def ratio_words(found: CalibrationsComparison) -> str:
    """What a ratio is of."""
    if len(found.reference) == 1:
        return f"{found.later} / {found.reference[0]}"
    return f"{found.later} / mean of {reference_words(found)}"


def summaries(found: CalibrationsComparison) -> list[str]:
    """What all have in common, then a line for each calibration, then the others that say what is usual."""
    said = [_conditions(one) for one in found.calibrations]
    common = [words for words in said[0] if all(words in other for other in said)]
    return [
        *([f"Each: {', '.join(common)}."] if common else []),
        *(
            f"{one.label}: {', '.join([when(one), *(each for each in own if each not in common)])}; {one.name}"
            for one, own in zip(found.calibrations, said, strict=True)
        ),
        *(f"also: {when(one)}, {one.quality}; {one.name}" for one in found.others),
    ]


def _conditions(one: CalibrationSummary) -> list[str]:
    cache = "no cache seen"
    if one.cache_bytes is not None and one.cache_below_bytes is not None:
        cache = f"a cache of {numbers.exact_size(one.cache_bytes)} to {numbers.exact_size(one.cache_below_bytes)}"
    return [
        f"{one.directory or 'no directory'}{f' on {one.device}' if one.device else ''}",
        f"budget {one.budget}",
        f"a file of {numbers.exact_size(one.file_bytes)}",
        f"by {one.engine}",
        one.quality,
        cache,
    ]


def when(one: CalibrationSummary) -> str:
    """When it was measured, to the minute."""
    return f"{datetime.fromisoformat(one.measured_at).astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def difference_words(found: CalibrationsComparison) -> list[tuple[str, str]]:
    """What the records say differently, from one to the next where they do."""
    return [
        (
            f"{change.before} to {change.after}",
            "; ".join(f"{group}: {words}" for group, words in grouped(change.differences)),
        )
        for change in found.changes
        if change.differences
    ]


def evidence_words(found: CalibrationsComparison) -> str:
    """What the intervals are made of."""
    if not _calibrations(found):
        return "Intervals are 95 % intervals by the blocks within the two calibrations."
    if found.others:
        whose = f"how {numbers.count(len(found.others), 'other calibration')} of this storage differ"
    else:
        whose = f"how {reference_words(found)} differ from each other"
    return f"Intervals are 95 % intervals for a calibration of an unchanged disk, by {whose}."


def drift_words(found: CalibrationsComparison) -> list[str]:
    """Along a straight line, for each main figure."""
    said = []
    for course in found.courses:
        if course.drift is not None:
            p = numbers.p_value(course.drift_p_value_holm)
            clear = (
                "a drift"
                if course.drift_p_value_holm is not None and course.drift_p_value_holm < 0.05
                else "none is certain"
            )
            said.append(
                f"{figure_name(course.figure)}: {ratio(course.drift.estimate)} {interval(course.drift)} from the first "
                f"to the last, p (Holm) {p}: {clear}."
            )
    return said


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """What to do next: words, then lines to type."""

    words: str
    lines: tuple[str, ...]


def next_steps(found: CalibrationsComparison, page: str | None) -> list[Step]:
    """What would answer it better, then what shows more."""
    last = found.calibrations[-1]
    names = [one.name for one in (*found.others, *found.calibrations)]
    steps = []
    if found.answer not in (CHANGED, SAME):
        size = f"--file-size {last.file_bytes / 2**30:g}"
        steps.append(
            Step(
                "To know what it does from day to day, calibrate again, best on other days, then compare all:",
                (f"dbdyno calibrate {last.directory or 'PATH'} --budget {last.budget} {size}", *typed([*names, "NEW"])),
            )
        )
    if found.others:
        steps.append(
            Step("All of this storage, the last against all before, which tells smaller changes:", typed(names))
        )
    if found.answer == CHANGED:
        steps.append(Step("What the later one found, in full:", (f"dbdyno report {last.name}",)))
    if page is None:
        shown = [one.name for one in found.calibrations]
        steps.append(Step("As a page with charts:", typed([*shown, "--html compared.html"])))
    return steps


def typed(arguments: Sequence[str]) -> tuple[str, ...]:
    """A command on as many lines as it needs."""
    whole = " ".join(["dbdyno compare", *arguments])
    if len(whole) <= 78 or len(arguments) < 2:
        return (whole,)
    return ("dbdyno compare \\", *(f"  {one} \\" for one in arguments[:-1]), f"  {arguments[-1]}")
