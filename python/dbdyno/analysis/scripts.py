"""The kinds of transactions of a mix, each by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dbdyno.analysis.documents import Document
from dbdyno.analysis.estimates import pseudo_median
from dbdyno.analysis.findings import Part, ScriptTimes
from dbdyno.analysis.metrics import clock_figures
from dbdyno.analysis.times import times


def by_script(outcomes: Sequence[Document], parts: Mapping[str, list[Part]]) -> list[ScriptTimes]:
    """Rate and response times of each script, in the order of the file.

    A rare kind may be missing in some trial: its times come from the trials that had it, its rate from all.
    A kind that never succeeded has no times and is left out; its failures stand among those of the arm.

    Args:
        outcomes: of the arm's trials.
        parts: those of each script's mean response time, where they are known.
    """
    names = dict.fromkeys(script["name"] for outcome in outcomes for script in outcome["scripts"])
    kinds = {name: [_script(outcome, name) for outcome in outcomes] for name in names}
    return [
        _times(name, outcomes, found, parts.get(name, []))
        for name, found in kinds.items()
        if any(script["successful"] > 0 for script in found)
    ]


def _script(outcome: Document, name: str) -> Document:
    absent: Document = {"successful": 0, "failed": 0}
    return next((script for script in outcome["scripts"] if script["name"] == name), absent)


def _times(name: str, outcomes: Sequence[Document], found: Sequence[Document], parts: list[Part]) -> ScriptTimes:
    rates = [
        outcome["throughput_per_s"] * script["successful"] / outcome["units"]["successful"]
        for outcome, script in zip(outcomes, found, strict=True)
    ]
    clocks = clock_figures([script["response_time"] for script in found if script["successful"] > 0])
    return ScriptTimes(
        script=name,
        successful=sum(script["successful"] for script in found),
        failed=sum(script["failed"] for script in found),
        throughput_per_s=pseudo_median(rates),
        response_time_ns=times(clocks),
        parts=parts,
    )
