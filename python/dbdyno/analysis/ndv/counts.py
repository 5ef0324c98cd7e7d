"""A scan's counts as estimates."""

from __future__ import annotations

from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Estimate


def counted(found: Document, most: int) -> Estimate:
    """Of an entry of the outcome, no more than there are values (`most`).

    Without that, of a column whose values are all different the sketch would say as often more than the rows as less.
    """
    estimate, low, high = (min(float(found["ndv"][key]), float(most)) for key in ("estimate", "low", "high"))
    return Estimate(estimate, low, high)
