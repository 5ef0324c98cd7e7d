"""Findings with everything that snapshots within units tell: a tail that is told and one that is not, statements,
lengths of waits."""

from __future__ import annotations

import dataclasses

import example_findings
import numpy as np

from dbdyno.analysis.findings import Arm, Estimate, EventLengths, Findings, StatementTimes, WaitLengths

STEPS = 20


def slow_commits() -> Findings:
    """The experiment `commit-write`, its first arm with lengths and statements, its second with an open tail."""
    findings = example_findings.commit_write()
    first, second, third, *rest = findings.arms
    arms = [_with_statements(_with_lengths(first)), _with_open_parts(second), _without_tail(third), *rest]
    return dataclasses.replace(findings, arms=arms)


def _with_lengths(arm: Arm) -> Arm:
    random = np.random.default_rng(1)
    events = [_event(event, decade, random) for event, decade in (("IO:WalSync", 59), ("LWLock:WALWrite", 62))]
    return dataclasses.replace(arm, wait_lengths=WaitLengths(50_000_000, 10, 1_000_000, events))


def _event(event: str, middle: int, random: np.random.Generator) -> EventLengths:
    cells: dict[tuple[int, int], int] = {}
    for step, place in zip(random.integers(0, STEPS, 2_000), random.normal(middle, 3, 2_000), strict=True):
        key = (int(step), int(place))
        cells[key] = cells.get(key, 0) + 1
    return EventLengths(event, [[step, place, count] for (step, place), count in sorted(cells.items())])


def _with_statements(arm: Arm) -> Arm:
    assert arm.intervals is not None
    update = StatementTimes(
        "single-row.sql", 3, "UPDATE counters SET n = n + 1 WHERE id = :id", 1.0, 0.4e6, 0.4e6, 90, []
    )
    commit = StatementTimes("single-row.sql", 4, "COMMIT", 1.0, 2.9e6, 2.9e6, 9_000, arm.intervals.parts)
    return dataclasses.replace(arm, by_statement=[update, commit])


def _with_open_parts(arm: Arm) -> Arm:
    """All but the greatest part of the extra time is not told from zero, nor from each other."""
    assert arm.tail is not None
    first, *others = arm.tail.extra
    unsure = [
        dataclasses.replace(
            part,
            ns=Estimate(part.ns.estimate, -part.ns.estimate, 3 * part.ns.estimate),
            p_value=0.4,
            told=False,
            rank_group=2,
        )
        for part in others
    ]
    return dataclasses.replace(arm, tail=dataclasses.replace(arm.tail, extra=[first, *unsure]))


def _without_tail(arm: Arm) -> Arm:
    return dataclasses.replace(arm, tail=None, tail_note="fewer than 1,000 units: no tail to speak of")
