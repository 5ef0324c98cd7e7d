"""Whose the time is: the parts of each statement and of each script of an arm.

The service time of a statement and the response time of a script are exact; the snapshots taken meanwhile divide them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from dbdyno.analysis.division import Divider
from dbdyno.analysis.documents import Document
from dbdyno.analysis.findings import Part, StatementTimes
from dbdyno.analysis.mean_parts import parts
from dbdyno.analysis.resampling import Floats, Resampling
from dbdyno.analysis.snapshots import Sums, snapshots_of
from dbdyno.analysis.tail import FEWEST_SNAPSHOTS


@dataclasses.dataclass(frozen=True, slots=True)
class Portions:
    """What all portions of one arm share."""

    events: list[str]
    divider: Divider
    resampling: Resampling

    def parts(self, outcomes: Sequence[Document], of: Sequence[Document | None], times: Times) -> list[Part]:
        """The mean time of a unit, divided; empty where there are too few snapshots, or all units failed.

        Args:
            outcomes: of the arm's trials.
            of: in each of them, what has the snapshots; None where the trial has not met it.
            times: the exact sums that the snapshots divide.
        """
        profiles = [outcome["profile"] for outcome in outcomes]
        found = [(one or {}).get("snapshots") or [] for one in of]
        seen, looked, asleep = snapshots_of(profiles, found, self.events)
        if seen.sum() < FEWEST_SNAPSHOTS or not times.units.sum():
            return []
        none = np.zeros(len(outcomes))
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
    kinds = dict.fromkeys(
        (script["name"], statement["line"], statement["text"]) for script, statement in _statements(outcomes)
    )
    found = []
    for name, line, text in kinds:
        of = [_statement(outcome, name, line, text) for outcome in outcomes]
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
                    parts=portions.parts(outcomes, of, times),
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
        return portions.parts(outcomes, of, Times(units, response_ns, np.minimum(queue_ns * units, response_ns)))

    return {name: of_script(name) for name in names}


def _statements(outcomes: Sequence[Document]) -> Iterator[tuple[Document, Document]]:
    for outcome in outcomes:
        for script in outcome["scripts"]:
            for statement in script["statements"]:
                yield script, statement


def _statement(outcome: Document, *which: object) -> Document | None:
    of_one = _statements([outcome])
    return next((one for script, one in of_one if (script["name"], one["line"], one["text"]) == which), None)


def _service_ns(statement: Document | None) -> float:
    return float(statement["service_time"]["sum_ns"]) if statement else 0.0


def _floats(documents: Sequence[Document | None], figure: Callable[..., float]) -> Floats:
    return np.array([float(figure(document)) for document in documents])
