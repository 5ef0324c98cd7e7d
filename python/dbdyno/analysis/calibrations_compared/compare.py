"""Two calibrations, or the last of many against those before: did the disk change?

    comparison = compare_calibrations([a, b], others=kept)

Two: the ratio B / A. What calibrations of this place differ by anyway is known where at least two others of it are
kept, measured before and in the same way; A and B themselves say nothing of that.
Three or more: the last over the geometric mean of those before, whose own spread says what is usual; a calibration
whose checks did not hold is shown, and is not among them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from datetime import datetime

from dbdyno.analysis.calibrations_compared.courses import courses
from dbdyno.analysis.calibrations_compared.differences import differences
from dbdyno.analysis.calibrations_compared.figures import Figure, at_edges
from dbdyno.analysis.calibrations_compared.findings import (
    CHANGED,
    CHANGED_IN_PART,
    FORMAT,
    MAIN,
    NO_CONCLUSION,
    NOT_BEYOND_USUAL,
    ONE_EACH,
    SAME,
    CalibrationsComparison,
    CalibrationSummary,
    FigureCompared,
    LeftOut,
)
from dbdyno.analysis.calibrations_compared.judging import Question, judge
from dbdyno.analysis.calibrations_compared.record import (
    Measured,
    Recorded,
    alike,
    check_distinct,
    measured,
    other_conditions,
    same_place,
)
from dbdyno.analysis.findings import Warning
from dbdyno.analysis.runs_compared.findings import Change
from dbdyno.errors import DynoError

LETTERS = ("A", "B")
MARGIN = 0.05
# With fewer, Student's factor is above 2.6.
FEW_CALIBRATIONS = 6
UNBELIEVED = "no conclusion"


def compare_calibrations(
    named: Sequence[Recorded], others: Sequence[Recorded] = (), margin: float = MARGIN
) -> CalibrationsComparison:
    """What changed.

    Args:
        named: two in the order in which they are to be read, or more in any order.
        others: kept ones, of whatever place; those that say what is usual for two are taken from them.
        margin: a smaller difference does not matter.

    Raises:
        DynoError: one is named twice, or they have no figure in common.
    """
    check_distinct(named)
    every = _labelled(named)
    later, limits = every[-1], _limits(every)
    reference = every[:-1] if limits else [each for each in every[:-1] if each.summary.quality != UNBELIEVED]
    usual = reference if len(reference) > 1 else _usual(reference[0], later, others)
    shown = list(at_edges(later.figures.values(), _edges(every)))
    questions = [asked for one in shown if (asked := _question(one, reference, usual)) is not None]
    if not questions:
        names = ", ".join(each.summary.name for each in reference)
        raise DynoError(
            "nothing_common", f"{later.summary.name}: has no figure in common with {names}; calibrate again"
        )
    found = judge(questions, margin, limits)
    return CalibrationsComparison(
        format=FORMAT,
        margin=margin,
        answer=_answer(found, limits),
        calibrations=[each.summary for each in every],
        reference=[each.label for each in reference],
        later=later.label,
        others=[each.summary for each in usual if len(reference) == 1],
        figures=found,
        worse=[one.figure for one in found if one.family == MAIN and one.verdict == "worse"],
        courses=courses(every, found) if len(every) > len(LETTERS) else [],
        changes=[Change(one.label, two.label, differences(one, two)) for one, two in itertools.pairwise(every)],
        left_out=list(_left_out(reference, later)),
        warnings=list(_warnings(every, found)),
    )


def _labelled(named: Sequence[Recorded]) -> list[Measured]:
    """Two as they were named, A and B; more in the order of time, 1, 2, ..."""
    if len(named) == len(LETTERS):
        return [measured(one, label) for one, label in zip(named, LETTERS, strict=True)]
    in_order = sorted(named, key=lambda one: _moment(one.record["measured_at"]))
    return [measured(one, str(place)) for place, one in enumerate(in_order, 1)]


def _usual(first: Measured, second: Measured, others: Sequence[Recorded]) -> list[Measured]:
    """Others that were measured before the later of both, where and as both were, and that may be believed."""
    latest = max(_moment(each.summary.measured_at) for each in (first, second))
    if not alike(first.record, second.record):
        return []
    known = (first.record, second.record)
    found = [
        measured(one, f"other {place}")
        for place, one in enumerate(sorted(others, key=lambda one: _moment(one.record["measured_at"])), 1)
        if alike(one.record, first.record)
        and one.record not in known
        and not one.record["interrupted"]
        and _moment(one.record["measured_at"]) < latest
    ]
    return [each for each in found if each.summary.quality != UNBELIEVED]


def _limits(every: Sequence[Measured]) -> list[str]:
    """No verdict where the later one, or all before it, cannot be believed."""
    *before, later = (each.summary.quality == UNBELIEVED for each in every)
    return [NO_CONCLUSION] if later or all(before) else []


def _question(later: Figure, reference: Sequence[Measured], usual: Sequence[Measured]) -> Question | None:
    """None where no calibration of the reference has the figure."""
    key = later.name.key
    before = [each.figures[key].known for each in reference if key in each.figures]
    return (
        Question(later, before, [each.figures[key].known for each in usual if key in each.figures]) if before else None
    )


def _edges(every: Sequence[Measured]) -> set[int]:
    return {each.summary.cache_bytes for each in every if each.summary.cache_bytes is not None}


def _left_out(reference: Sequence[Measured], later: Measured) -> Iterator[LeftOut]:
    """Gains by span are compared where a cache ends only, so the others are not missed."""
    before = {key: one for each in reference for key, one in each.figures.items()}
    labels = " or ".join(each.label for each in reference)
    for there, absent, reason in (
        (later.figures, before, f"not measured in {labels}"),
        (before, later.figures, f"not measured in {later.label}"),
    ):
        for key, one in there.items():
            if key not in absent and one.name.phase != "cache_map":
                yield LeftOut(one.name, reason)


def _answer(found: Sequence[FigureCompared], limits: Sequence[str]) -> str:
    if limits:
        return NO_CONCLUSION
    main = [one for one in found if one.family == MAIN]
    if not any(one.calibrations for one in found):
        return ONE_EACH
    if any(one.verdict in ("better", "worse") for one in main):
        return CHANGED
    if any(one.verdict in ("better", "worse") for one in found):
        return CHANGED_IN_PART
    return SAME if main and all(one.verdict in ("same", "small") for one in main) else NOT_BEYOND_USUAL


def _warnings(every: Sequence[Measured], found: Sequence[FigureCompared]) -> Iterator[Warning]:
    later = every[-1]
    elsewhere = [
        each.label for each in every[:-1] if not same_place(each.record["inventory"], later.record["inventory"])
    ]
    if elsewhere:
        yield Warning(
            "other_place",
            f"{_listed(elsewhere)} and {later.label} are not of one storage: host, device or file system differ, and "
            "a ratio says which is faster, not that anything changed",
        )
    unlike = {each.label: words for each in every[:-1] if (words := other_conditions(each.record, later.record))}
    if unlike:
        said = "; ".join(f"{label}: {_listed(words)}" for label, words in unlike.items())
        yield Warning(
            "other_conditions",
            f"not measured as {later.label} was ({said}): that moves figures of an unchanged disk, of caches first",
        )
    if not any(one.calibrations for one in found):
        yield Warning(
            "day_to_day_unknown",
            "intervals and verdicts are by the blocks within the two calibrations: how much calibrations of an "
            "unchanged disk differ from day to day is not in them, and on shared storage two that are minutes apart "
            "may well be told apart",
        )
    else:
        fewest = min(one.calibrations for one in found if one.calibrations)
        if fewest < FEW_CALIBRATIONS:
            yield Warning(
                "few_calibrations",
                f"what is usual is known from {fewest} calibrations only, so only great changes can be told; each "
                "further one narrows the intervals",
            )
    doubtful = [each.summary for each in every if each.summary.quality != "sound"]
    if doubtful:
        said = "; ".join(f"{one.label} {one.quality}{_why(one, len(every))}" for one in doubtful)
        yield Warning("quality", f"{said}; what others do with the machine is in the figures, too")
    if len(every) == len(LETTERS) and _moment(every[0].summary.measured_at) > _moment(later.summary.measured_at):
        yield Warning(
            "order", "B was measured before A; name the earlier one first to read ratios as changes over time"
        )


def _why(one: CalibrationSummary, of: int) -> str:
    """Of two calibrations the reasons; of more their own reports have them."""
    return f" ({', '.join(one.reasons)})" if of == len(LETTERS) else ""


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _moment(measured_at: str) -> datetime:
    return datetime.fromisoformat(measured_at)
