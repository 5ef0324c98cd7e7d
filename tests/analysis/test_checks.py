"""Manipulation checks: an arm that did not do what its name says gets no verdict, and the reason has its figures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import synthetic

from dbdyno.analysis.analyse import analyse
from dbdyno.analysis.findings import Check, Findings

BASELINE, ARM = "io-bound/wait-immediate", "io-bound/wait-batch"

Trial = dict[str, Any]


def judged(expect: dict[str, Any], change: Callable[[Trial], Any] = lambda _: None, **evidence: Any) -> Findings:
    """A run of two arms with full evidence; the second expects something, and its trials may be changed."""
    run, machine, trials = synthetic.run(arms=2, blocks=8, noise=0.001)
    synthetic.add_evidence(trials, **evidence)
    run["arms"][1]["expect"] = expect
    for trial in trials:
        if trial["arm"] == ARM:
            change(trial)
    return analyse(run, machine, trials)


def the_check(findings: Findings) -> Check:
    """The one check beside the invariant that every synthetic trial has."""
    [check] = [check for check in findings.arms[1].checks if not check.check.startswith("invariant")]
    return check


def cached(pages: int) -> Callable[[Trial], None]:
    """So many of the 1,000 pages of a unit are found in the buffers."""

    def change(trial: Trial) -> None:
        units = trial["outcome"]["units_with_warm_up"]
        trial["server"].update(
            buffer_hits=pages * units, buffer_reads=(1000 - pages) * units, read_bytes=(1000 - pages) * units * 8192
        )

    return change


HOLDS = ""


@pytest.mark.parametrize(
    ("expect", "change", "expected", "seen"),
    [
        ({"physical_reads": 1.0}, cached(0), "physical reads of 100 %", HOLDS),
        ({"physical_reads": 1.0}, cached(10), "physical reads of 100 %", HOLDS),
        ({"physical_reads": 1.0}, cached(11), "physical reads of 100 %", "98.9 %"),
        ({"physical_reads": 1.0}, cached(570), "physical reads of 100 %", "43 %"),
        ({"physical_reads": 0.0}, cached(990), "physical reads of 0 %", HOLDS),
        ({"physical_reads": 0.0}, cached(988), "physical reads of 0 %", "1.2 %"),
        ({"physical_reads": 1.0}, lambda t: t["device"].update(read_bytes=0), "physical reads of 100 %", "0 %"),
        ({"physical_reads": 1.0}, lambda t: t["server"].pop("buffer_hits"), "physical reads of 100 %", "not known"),
        ({"plan": "Seq Scan"}, lambda t: None, "a plan with Seq Scan", HOLDS),
        ({"plan": ["Seq Scan", "Aggregate"]}, lambda t: None, "a plan with Seq Scan and Aggregate", HOLDS),
        ({"plan": "Sort"}, lambda t: None, "a plan with Sort", "Aggregate > Seq Scan on web_returns"),
        ({"plan": "Seq Scan"}, lambda t: t.update(plans=[]), "a plan with Seq Scan", "not known"),
        ({"no_plan": ["Sort"]}, lambda t: None, "no plan with Sort", HOLDS),
        ({"no_plan": "Seq Scan"}, lambda t: None, "no plan with Seq Scan", "Aggregate > Seq Scan on web_returns"),
        ({"profile": "LWLock:WALWrite"}, lambda t: None, "LWLock:WALWrite as the greatest part of the time", HOLDS),
        (
            {"profile": ["CPU", "run queue"]}, lambda t: None,
            "CPU or run queue as the greatest part of the time", "LWLock:WALWrite",
        ),
        ({"settings": {"synchronous_commit": "on"}}, lambda t: None, "synchronous_commit = on", HOLDS),
        ({"settings": {"synchronous_commit": True}}, lambda t: None, "synchronous_commit = on", HOLDS),
        (
            {"settings": {"synchronous_commit": "off"}}, lambda t: None,
            "synchronous_commit = off", "synchronous_commit = on",
        ),
        ({"settings": {"commit_delay": 410}}, lambda t: None, "commit_delay = 410", HOLDS),
        (
            {"settings": {"commit_delay": 410}},
            lambda t: t.update(deviations=["commit_delay: set to 410, it says 0"], settings={"commit_delay": "0"}),
            "commit_delay = 410", "commit_delay = 0",
        ),
        (
            {"settings": {"io_method": "sync"}},
            lambda t: t.update(
                deviations=["io_method: expected sync, the session says worker; it waits for a restart"],
                settings={"io_method": "worker"},
            ),
            "io_method = sync", "io_method = worker (it waits for a restart)",
        ),
        (
            {"settings": {"commit_delay": 410}},
            lambda t: t["setting_origins"].update(commit_delay={"source": "default", "pending_restart": True}),
            "commit_delay = 410", "commit_delay = 410, with a restart pending,",
        ),
        ({"settings": {"io_method": "worker"}}, lambda t: None, "io_method = worker", "not known"),
        (
            {"relation_bytes": {"web_returns": {"at_least": 8_192_000}}}, lambda t: None,
            "web_returns of at least 8,192,000 bytes", HOLDS,
        ),
        (
            {"relation_bytes": {"web_returns": {"at_least": 1, "at_most": 8_191_999}}}, lambda t: None,
            "web_returns of at least 1 bytes and at most 8,191,999 bytes", "8,192,000 bytes",
        ),
        ({"relation_bytes": {"orders": {"at_most": 1}}}, lambda t: None, "orders of at most 1 bytes", "not known"),
    ],
)  # fmt: skip
def test_each_expectation(expect: dict[str, Any], change: Callable[[Trial], None], expected: str, seen: str) -> None:
    """What was expected, what was seen instead, in all eight trials; and only a check that holds leaves a verdict."""
    found = judged(expect, change)

    assert the_check(found) == Check(the_check(found).check, expected, seen, 8, 8 if seen else 0)
    [comparison] = found.comparisons
    assert comparison.limited_by == (["check"] if seen else [])
    assert comparison.withheld == bool(seen)
    assert comparison.verdict == ("undecided" if seen else "better")
    assert [warning.code for warning in found.warnings] == (["check"] if seen else [])


def test_a_failed_check_of_the_baseline_withholds_the_verdict_too() -> None:
    """What an arm is compared with must be what its name says as well; the trials that failed are counted."""
    run, machine, trials = synthetic.run(arms=2, blocks=8, noise=0.001)
    synthetic.add_evidence(trials)
    run["arms"][0]["expect"] = {"physical_reads": 1.0}
    for trial in [trial for trial in trials if trial["arm"] == BASELINE][:3]:
        cached(570)(trial)

    found = analyse(run, machine, trials)

    assert found.comparisons[0].withheld
    assert found.warnings[0].arm == BASELINE
    assert found.warnings[0].message == (
        "the arm did not do what its name says (expected physical reads of 100 %, 43 % seen in 3 of 8 trials), "
        "so it gets no verdict; correct the level in the experiment file"
    )


def test_a_profile_without_clocks_shows_only_what_is_more_than_half() -> None:
    """CPU is unknown: a wait of three tenths may not be the greatest part, one of six tenths is."""

    def without_clocks(trial: Trial) -> None:
        profile = trial["outcome"]["profile"]
        profile["unaccounted_ns"] += profile["cpu_ns"] + profile["run_queue_ns"]
        profile.update(cpu_ns=None, run_queue_ns=None)

    def of_many_parts(trial: Trial) -> None:
        without_clocks(trial)
        waits = trial["outcome"]["profile"]["waits_ns"]
        half = waits["LWLock:WALWrite"] // 2
        waits["LWLock:WALWrite"] -= half
        waits["IO:WalInitSync"] = half

    expect = {"profile": ["LWLock:WALWrite", "IO:WalSync"]}
    assert the_check(judged(expect, without_clocks)).holds
    assert the_check(judged(expect, of_many_parts)).seen == "not known"


def test_a_violated_invariant_is_a_failed_check() -> None:
    """Three orders without items after one trial."""
    run, machine, trials = synthetic.run(arms=2, blocks=8, noise=0.001)
    synthetic.add_evidence(trials)
    next(trial for trial in trials if trial["arm"] == ARM)["invariants"]["stock is never negative"] = 3

    found = analyse(run, machine, trials)

    assert found.arms[1].checks == [
        Check("invariant stock is never negative", "no violation of stock is never negative", "3 violations", 8, 1)
    ]
    assert found.comparisons[0].withheld


def test_deviations_are_checks_with_their_own_code() -> None:
    """A deviation that no expectation names stands among the checks."""
    line = "commit_delay: set to 410, the session says 0"
    found = judged({}, lambda trial: trial.update(deviations=[line]))

    assert the_check(found) == Check("deviation", "every level as the experiment file has it", line, 8, 8)
    assert found.comparisons[0].limited_by == ["deviation"]
    assert found.comparisons[0].withheld


def test_a_plan_that_changed_limits_the_verdict_but_leaves_it() -> None:
    """Two trials of eight used the index."""
    run, machine, trials = synthetic.run(arms=2, blocks=8, noise=0.001)
    synthetic.add_evidence(trials)
    other = {**synthetic.PLAN, "shape": "Aggregate > Index Only Scan on web_returns", "nodes": ["Index Only Scan"]}
    for trial in [trial for trial in trials if trial["arm"] == ARM][:2]:
        trial["plans"] = [other]

    found = analyse(run, machine, trials)

    [plan] = found.arms[1].plans
    assert (plan.shape, plan.other_shapes) == (synthetic.PLAN["shape"], [other["shape"]])
    assert (found.comparisons[0].verdict, found.comparisons[0].limited_by) == ("better", ["plan_changed"])
    assert [(warning.code, warning.message) for warning in found.warnings] == [
        (
            "plan_changed",
            "scan.sql line 1 had another plan in some trials: Aggregate > Seq Scan on web_returns in most, and "
            "Aggregate > Index Only Scan on web_returns; use `analyze` in `reset`, or a level for each plan",
        )
    ]


def test_runs_of_before_have_no_checks() -> None:
    """Keys that are absent expect nothing."""
    found = analyse(*synthetic.run(arms=2, blocks=8))

    assert [arm.checks for arm in found.arms] == [[], []]
