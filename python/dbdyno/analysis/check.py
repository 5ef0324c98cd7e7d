"""One check of an arm, trial by trial.

A claim that cannot be shown is not shown: where the evidence for an expectation is missing (a server on another
host, no plan taken) a trial fails the check with `not known`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dbdyno.analysis.findings import Check

NOT_KNOWN = "not known"

Seen = str | None  # what a trial showed instead of what was expected; None where it showed that


def check(name: str, expected: str, seen: Sequence[Seen]) -> Check:
    """The check over all trials: of what failed trials showed, the most frequent is named."""
    failed = Counter(one for one in seen if one is not None)
    often = failed.most_common(1)[0][0] if failed else ""
    return Check(check=name, expected=expected, seen=often, trials=len(seen), failed_trials=failed.total())
