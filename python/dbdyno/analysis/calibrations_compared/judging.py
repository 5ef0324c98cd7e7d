"""Families of ratios to verdicts: Holm within each family, one margin, words as everywhere."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from dbdyno.analysis.calibrations_compared.contrasts import (
    LEAST_CALIBRATIONS,
    Contrast,
    Known,
    by_blocks,
    by_calibrations,
    spread,
)
from dbdyno.analysis.calibrations_compared.figures import Figure
from dbdyno.analysis.calibrations_compared.findings import FAMILIES, FigureCompared
from dbdyno.analysis.estimates import exponential
from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.holm import holm
from dbdyno.analysis.verdict import Effect, verdict

NO_CONCLUSION = "no_conclusion"


@dataclasses.dataclass(frozen=True, slots=True)
class Question:
    """A figure of the later calibration, those of the reference, and of the calibrations that say what is usual."""

    later: Figure
    reference: Sequence[Known]
    usual: Sequence[Known]

    @property
    def contrast(self) -> Contrast:
        """By the calibrations where there are enough, else by the blocks; without an interval where those are few."""
        found = by_calibrations(self.reference, self.later.known, self.usual)
        return found or by_blocks(self.reference, self.later.known)

    @property
    def calibrations(self) -> int:
        """How many say what is usual; 0 where that is not known."""
        return len(self.usual) if len(self.usual) >= LEAST_CALIBRATIONS else 0


def judge(questions: Sequence[Question], margin: float, limited_by: Sequence[str]) -> list[FigureCompared]:
    """A verdict on each figure, family after family; with a limit there is none."""
    found = []
    for family in FAMILIES:
        asked = [one for one in questions if one.later.family == family]
        p_values = [one.contrast.p_value() for one in asked]
        places = [place for place, p in enumerate(p_values) if p is not None]
        adjusted = dict(zip(places, holm([p for p in p_values if p is not None]), strict=True))
        found += [
            _judged(one, p_values[place], adjusted.get(place), margin, limited_by) for place, one in enumerate(asked)
        ]
    return found


def _judged(
    asked: Question, p: float | None, p_holm: float | None, margin: float, limited_by: Sequence[str]
) -> FigureCompared:
    contrast, later = asked.contrast, asked.later
    ratio, ratio_90 = contrast.estimate(0.95), contrast.estimate(0.90)
    effect = Effect.of(len(asked.reference), ratio, ratio_90, p_holm, margin)
    return FigureCompared(
        figure=later.name,
        family=later.family,
        higher_is_better=later.higher_is_better,
        first=_reference(asked.reference),
        second=later.known.estimate(),
        ratio=ratio,
        ratio_90=ratio_90,
        p_value=p,
        p_value_holm=p_holm,
        calibrations=asked.calibrations,
        spread=spread(asked.usual) if asked.calibrations else None,
        verdict="undecided" if limited_by else verdict(effect, margin, later.higher_is_better),
        limited_by=list(limited_by),
    )


def _reference(reference: Sequence[Known]) -> Estimate:
    """The one calibration, or the geometric mean of several, for which their spread stands beside it."""
    if len(reference) == 1:
        return reference[0].estimate()
    return exponential(Estimate(sum(one.log for one in reference) / len(reference), None, None))
