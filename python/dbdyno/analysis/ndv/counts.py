"""A scan's counts as estimates, and what it had to say."""

from __future__ import annotations

from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Estimate, Warning


def counted(found: Document, most: int) -> Estimate:
    """Of an entry of the outcome, no more than there are values (`most`).

    Without that, of a column whose values are all different the sketch would say as often more than the rows as less.
    """
    estimate, low, high = (min(float(found["ndv"][key]), float(most)) for key in ("estimate", "low", "high"))
    return Estimate(estimate, low, high)


def notes(outcome: Document) -> list[Warning]:
    """What the scan left out, in its own words; `--via sql` has none."""
    return [Warning("left_out_by_the_scan", note) for note in outcome.get("notes", ())]
