"""Whose the time is: the parts of each statement and of each script of an arm.

The service time of a statement and the response time of a script are exact; the snapshots taken meanwhile divide them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from dbdyno.analysis.division import Divider
from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Part, StatementTimes
from dbdyno.analysis.mean_parts import parts
from dbdyno.analysis.resampling import Floats, Resampling
from dbdyno.analysis.snapshots import Events, Sums
from dbdyno.analysis.tail import FEWEST_SNAPSHOTS


@dataclasses.dataclass(frozen=True, slots=True)
class Portions:
    """What all portions of one arm share."""

    events: Events
    divider: Divider
    resampling: Resampling

    def parts(self, of: Sequence[Document | None], times: Times) -> list[Part]:
        """The mean time of a unit, divided; empty where there are too few snapshots, or all units failed.

        Args:
            of: in each of the arm's trials, what has the snapshots; None where the trial has not met it.
            times: the exact sums that the snapshots divide.
        """
        seen, looked, asleep = self.events.counted([(one or {}).get("snapshots") or [] for one in of])
        if seen.sum() < FEWEST_SNAPSHOTS or not times.units.sum():
            return []
        none = np.zeros(len(of))
        sums = Sums(times.units, times.response_ns, times.queue_ns, none, none, seen, looked, asleep)
        resampled = sums.resampled(self.resampling)
        divided = self.divider.divide(resampled)
        with np.errstate(invalid="ignore"):  # a replicate may have none of these units
            figures: Floats = divided.ns / resampled.units[:, None]
        return parts(divided.parts, figures, self.resampling)


@dataclasses.dataclass(frozen=True, slots=True)
class Times:
    """Exact sums by trial: the units that a mean is over, the time to divide, and the queue time in it."""

    units: Floats
    response_ns: Floats
    queue_ns: Floats


def by_statement(outcomes: Sequence[Document], portions: Portions) -> list[StatementTimes]:
    """Every statement that was executed, in the order of the scripts, per unit of work of the arm."""
    units = _floats(outcomes, lambda outcome: outcome["units"]["successful"])
    executed = [_statements(outcome) for outcome in outcomes]
    found = []
    for name, line, text in dict.fromkeys(which for statements in executed for which in statements):
        of = [statements.get((name, line, text)) for statements in executed]
        clocks = [one["service_time"] for one in of if one is not None]
        executions, service_ns = (sum(clock[key] for clock in clocks) for key in ("count", "sum_ns"))
        if executions:
            times = Times(units, _floats(of, _service_ns), np.zeros(len(of)))
            found.append(
                StatementTimes(
                    script=name,
                    line=line,
                    text=text,
                    executions_per_unit=executions / float(units.sum()),
                    service_time_ns_mean=service_ns / executions,
                    ns_per_unit=service_ns / float(units.sum()),
                    snapshots=sum(row[1] for one in of if one for row in one.get("snapshots") or []),
                    parts=portions.parts(of, times),
                )
            )
    return found


def script_parts(outcomes: Sequence[Document], portions: Portions) -> dict[str, list[Part]]:
    """The parts of each script's mean response time.

    A unit waits in the queue before its script is drawn, so the mean queue time of a script is that of the arm.
    """
    names = dict.fromkeys(script["name"] for outcome in outcomes for script in outcome["scripts"])
    queue_ns = _floats(outcomes, lambda outcome: outcome["queue_time"]["sum_ns"] / outcome["queue_time"]["count"])

    def of_script(name: str) -> list[Part]:
        of = [next((one for one in outcome["scripts"] if one["name"] == name), None) for outcome in outcomes]
        units = _floats(of, lambda script: script["successful"] if script else 0)
        response_ns = _floats(of, lambda script: script["response_time"]["sum_ns"] if script else 0)
        return portions.parts(of, Times(units, response_ns, np.minimum(queue_ns * units, response_ns)))

    return {name: of_script(name) for name in names}


def _statements(outcome: Document) -> dict[tuple[str, int, str], Document]:
    """Those of a trial by script, line and text."""
    return {
        (script["name"], statement["line"], statement["text"]): statement
        for script in outcome["scripts"]
        for statement in script["statements"]
    }


def _service_ns(statement: Document | None) -> float:
    return float(statement["service_time"]["sum_ns"]) if statement else 0.0


def _floats(documents: Sequence[Document | None], figure: Callable[..., float]) -> Floats:
    return np.array([float(figure(document)) for document in documents])
