"""How much work a trial did in all, and how many rows that touched."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dbdyno.analysis.documents import Document


def units_in_all(trials: Sequence[Document]) -> int | None:
    """The units that the counters of server, kernel and device cover: warm-up and cool-down are among them.

    None where an older trial did not count them: nothing in its record says whether there was a warm-up.
    """
    counted = [trial["outcome"].get("units_with_warm_up") for trial in trials]
    return None if None in counted else sum(counted) or None


def rows_per_unit(trial: Document) -> tuple[Fraction, Fraction]:
    """Rows returned and rows affected by a successful unit, exactly."""
    outcome = trial["outcome"]
    statements = [statement for script in outcome["scripts"] for statement in script["statements"]]
    returned = sum(statement.get("rows", 0) for statement in statements)
    affected = sum(statement.get("rows_affected", 0) for statement in statements)
    units = outcome["units"]["successful"]
    return Fraction(returned, units), Fraction(affected, units)
