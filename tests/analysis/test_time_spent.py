"""Error bars of mean profiles, reasons, statements and scripts."""

from __future__ import annotations

import pytest
import simulated_units as simulated
import synthetic

from dbdyno.analysis.analyse import analyse
from dbdyno.analysis.time_spent import TimeSpent

BASELINE, BATCH = "io-bound/wait-immediate", "io-bound/wait-batch"


def test_the_parts_are_those_of_the_profile() -> None:
    """Every part with the profile's own figure, the greatest first, each within its interval."""
    findings = analyse(*synthetic.run(arms=2, blocks=8))

    for arm in findings.arms:
        assert arm.intervals is not None
        parts = arm.profile_ns.parts()
        assert (arm.intervals.resampled, arm.intervals.clusters) == ("trials", 8)
        assert {one.part: one.ns.estimate for one in arm.intervals.parts} == pytest.approx(
            {part: ns for part, ns in parts.items() if ns}
        )
        assert sum(one.share.estimate for one in arm.intervals.parts) == pytest.approx(1.0)
        assert [one.ns.estimate for one in arm.intervals.parts] == sorted(parts.values(), reverse=True)[:9]
        for one in arm.intervals.parts:
            assert one.ns.low is not None
            assert one.ns.high is not None
            assert one.ns.low < one.ns.estimate < one.ns.high


def test_few_trials_have_chunks() -> None:
    """Five trials of ten chunks: intervals for what the snapshots know, none for what is left over."""
    arm = analyse(*synthetic.run(arms=2, blocks=5)).arms[0]

    assert arm.intervals is not None
    assert (arm.intervals.resampled, arm.intervals.clusters) == ("chunks", 50)
    bounds = {one.part: one.ns.low for one in arm.intervals.parts}
    assert bounds.pop("unaccounted") is None
    assert None not in bounds.values()


def test_runs_of_before_are_analysed() -> None:
    """Without cells, periods and switches: intervals from six trials on, no tail, and a plain word."""
    for blocks in (5, 6):
        run, machine, trials = synthetic.run(arms=2, blocks=blocks)
        for trial in trials:
            profile = trial["outcome"]["profile"]
            for key in ("cells", "events", "period_ns", "looked", "voluntary_switches", "bins_per_decade"):
                del profile[key]
            for script in trial["outcome"]["scripts"]:
                del script["snapshots"]

        arm = analyse(run, machine, trials).arms[0]

        assert (arm.intervals is None) == (blocks == 5)
        assert (arm.tail, arm.tail_note) == (None, "this run recorded no snapshots by response time")
        assert (arm.by_statement, arm.wait_lengths) == ([], None)
        assert (arm.sampling.period_ns, arm.switches.voluntary_per_unit) == (None, None)


def test_only_what_is_told_is_a_reason() -> None:
    """The arm differs in the flush, the lock queue and the sleep: CPU moved a little by chance and is no reason."""
    [comparison] = analyse(*synthetic.run(arms=2, blocks=12, seed=1)).comparisons
    told = {reason.part for reason in comparison.why if reason.told}

    assert {"LWLock:WALWrite", "asleep_no_wait_event"} <= told
    assert not told & {"cpu", "run_queue", "unaccounted", "queue"}
    for reason in comparison.why:
        assert reason.difference.low is not None
        assert reason.difference.high is not None
        assert reason.difference.low <= reason.difference_ns <= reason.difference.high


def test_waits_belong_to_their_statement() -> None:
    """Two statements: the first has all snapshots on the flush, the second all on the lock."""
    trials, _ = simulated.trials(simulated.SERVER, 8, seed=1)
    for trial in trials:
        outcome = trial["outcome"]
        flush, lock = (outcome["profile"]["events"].index(event) for event in ("IO:WalSync", simulated.LOCK))
        units = outcome["units"]["successful"]
        outcome["queue_time"] = {"count": units, "sum_ns": 0}
        outcome["scripts"] = [
            {
                "name": "two.sql", "successful": units, "failed": 0, "snapshots": [[flush, 900, 200, 200]],
                "response_time": {"count": units, "sum_ns": units * 3_000_000},
                "statements": [
                    statement(1, "UPDATE a", units, 1_000_000, [[flush, 900, 200, 200]]),
                    statement(2, "UPDATE b", 2 * units, 500_000, [[lock, 700, 90, 90]]),
                    statement(3, "SELECT 1", units, 1_000, [[flush, 1, 0, 0]]),
                ],
            }
        ]  # fmt: skip
    spent = TimeSpent(trials, seed=1)

    first, second, rare = spent.by_statement()

    assert [(one.part, one.ns.estimate) for one in first.parts] == [("IO:WalSync", pytest.approx(1e6))]
    assert [(one.part, one.ns.estimate) for one in second.parts] == [(simulated.LOCK, pytest.approx(1e6))]
    assert (second.executions_per_unit, second.service_time_ns_mean, second.ns_per_unit) == (2.0, 5e5, 1e6)
    assert (rare.parts, rare.snapshots) == ([], 8)
    assert [one.part for one in spent.by_script()["two.sql"]] == ["IO:WalSync"]
    for trial in trials:
        trial["outcome"]["scripts"][0].update(successful=0, failed=10, response_time={"count": 0, "sum_ns": 0})
    assert spent.by_script() == {"two.sql": []}


def statement(line: int, text: str, count: int, mean_ns: int, snapshots: list[list[int]]) -> dict[str, object]:
    """What the driver records of one."""
    clock = {"count": count, "sum_ns": count * mean_ns}
    return {"line": line, "text": text, "service_time": clock, "snapshots": snapshots}


def test_lengths_of_waits_are_laid_over_each_other() -> None:
    """By event and step, over trials whose lists of events differ."""
    run, machine, trials = synthetic.run(arms=2, blocks=6)
    for trial in trials:
        profile = trial["outcome"]["profile"]
        event = profile["events"].index("IO:WalSync")
        profile["episodes"] = {
            "step_ns": 100, "bins_per_decade": 10, "shortest_ns": 7, "cells": [[0, event, 60, 2], [1, event, 61, 1]],
        }  # fmt: skip

    lengths = analyse(run, machine, trials).arms[0].wait_lengths

    assert lengths is not None
    assert (lengths.step_ns, lengths.bins_per_decade, lengths.shortest_ns) == (100, 10, 7)
    assert [(one.event, one.cells) for one in lengths.events] == [("IO:WalSync", [[0, 60, 12], [1, 61, 6]])]
