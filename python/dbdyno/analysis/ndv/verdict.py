"""Right, wrong, or wrong and it matters."""

from __future__ import annotations

from collections.abc import Sequence

from dbdyno.analysis.findings import Estimate
from dbdyno.analysis.ndv.findings import NOT_COMPARED, RIGHT, WRONG, WRONG_AND_MATTERS, Use

# ANALYZE's own noise stays below; plans do not turn on less.
WRONG_FACTOR = 2.0


def verdict(factor: Estimate | None, uses: Sequence[Use]) -> tuple[str, list[str]]:
    """The verdict, and what speaks for it.

    Wrong is what is wrong by 2 with all of its interval: a count that is not known well enough is no accusation.
    """
    if factor is None:
        return NOT_COMPARED, []
    if is_right(factor):
        return RIGHT, []
    reasons = [use.words for use in uses if use.matters]
    return (WRONG_AND_MATTERS, reasons) if reasons else (WRONG, [use.words for use in uses])


def is_right(factor: Estimate) -> bool:
    """Whether an error factor is below 2, or may be."""
    return (factor.estimate if factor.low is None else factor.low) < WRONG_FACTOR
