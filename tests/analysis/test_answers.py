"""Answers against the truth: errors, what they cost, and which arm is the fastest at which error."""

from __future__ import annotations

import math

import pytest
from counting_run import counting_run

from dbdyno.analysis.analyse import analyse
from dbdyno.analysis.answers import relative_error
from dbdyno.analysis.findings import Findings, Tradeoff


@pytest.fixture(scope="module")
def findings() -> Findings:
    """Ten blocks."""
    return analyse(*counting_run())


def arms_of(found: Tradeoff) -> list[str]:
    """The steps by the names of their arms."""
    return [step.arm.removeprefix("both/") for step in found.steps]


def test_errors_are_those_of_all_trials(findings: Findings) -> None:
    """Mean, root mean square and ends, relative to the truth."""
    run, _, trials = counting_run()
    errors = [trial["answers"]["id"] / 1e6 - 1 for trial in trials if trial["arm"] == "both/hll"]
    answer = next(arm for arm in findings.arms if arm.arm == "both/hll").answers[0]

    assert (answer.question, answer.truth, len(answer.answers)) == ("id", run["truth"]["id"], 10)
    assert answer.error_rms == pytest.approx(math.sqrt(sum(error**2 for error in errors) / 10), rel=1e-9)
    assert answer.error_mean == pytest.approx(sum(errors) / 10, rel=1e-6)
    assert (answer.error_low, answer.error_high) == pytest.approx((min(errors), max(errors)), rel=1e-6)


def test_an_error_buys_time_only_where_that_is_told(findings: Findings) -> None:
    """The rewrite is the fastest exact one; one estimate is faster, and the other is not told apart from it."""
    table, copy = findings.tradeoffs

    assert (table.on_copy, arms_of(table), [step.exact for step in table.steps]) == (
        False,
        ["rewrite", "hll"],
        [True, False],
    )
    assert table.steps[1].ratio is not None
    assert table.steps[1].ratio.estimate == pytest.approx(0.5, rel=0.05)
    assert copy.on_copy


def test_an_error_of_one_draw_is_not_ranked(findings: Findings) -> None:
    """However fast the arm is, and however near the truth it came."""
    copy = findings.tradeoffs[1]

    assert arms_of(copy) == ["duckdb"]
    assert copy.single == ["both/lucky"]


def test_arms_that_are_alike_in_time_are_named() -> None:
    """Two exact arms that take the same time: whichever is named, the other stands beside it."""
    run, machine, trials = counting_run()
    times = {trial["block"]: trial["outcome"] for trial in trials if trial["arm"] == "both/rewrite"}
    for trial in trials:
        if trial["arm"] == "both/exact":
            trial["outcome"]["elapsed_ns"] = times[trial["block"]]["elapsed_ns"] + (-1) ** trial["block"]
    step = analyse(run, machine, trials).tradeoffs[0].steps[0]

    assert {step.arm, *step.rivals} == {"both/exact", "both/rewrite"}


def test_without_blocks_nothing_is_told_to_be_faster() -> None:
    """Five are too few for an interval."""
    assert [arms_of(found) for found in analyse(*counting_run(blocks=5)).tradeoffs] == [["rewrite"], ["duckdb"]]


def test_cost_is_that_of_a_unit(findings: Findings) -> None:
    """Temporary bytes are the server's and those that another engine wrote."""
    costs = {arm.levels["method"]: arm.cost for arm in findings.arms}

    assert all(costs.values())
    assert [costs[name].temp_bytes for name in ("exact", "rewrite", "duckdb")] == [200 << 20, 0, 4096]  # type: ignore[union-attr]
    assert costs["ndv"].memory_bytes.estimate == pytest.approx(4 << 20, rel=1e-3)  # type: ignore[union-attr]


def test_an_exact_arm_that_errs_gets_no_verdict() -> None:
    """And has no place among the others; what it said stands in the check."""
    run, machine, trials = counting_run()
    for trial in trials:
        if trial["arm"] == "both/rewrite" and trial["block"] == 4:
            trial["answers"]["id"] = 999_999.0
    findings = analyse(run, machine, trials)
    rewrite = next(arm for arm in findings.arms if arm.arm == "both/rewrite")

    assert [(check.check, check.seen, check.failed_trials) for check in rewrite.failed_checks] == [
        ("answer", "999,999 instead of 1,000,000 (id)", 1)
    ]
    assert findings.comparisons[0].withheld
    assert arms_of(findings.tradeoffs[0])[0] == "exact"


def test_an_arm_without_an_answer_fails_what_it_is_expected_to_say() -> None:
    """An error that nobody has seen is not known."""
    run, machine, trials = counting_run()
    for trial in trials:
        if trial["arm"] == "both/hll":
            trial["answers"] = {}
    hll = next(arm for arm in analyse(run, machine, trials).arms if arm.arm == "both/hll")

    assert hll.answers == []
    assert [check.seen for check in hll.failed_checks] == ["not known"]


def test_reads_of_another_engine_are_judged_by_its_file() -> None:
    """Nothing came from the storage; a quarter of it would be a failed check."""
    run, machine, trials = counting_run()
    for arm in run["arms"]:
        if arm["engine"] == "duckdb":
            arm["expect"]["physical_reads"] = "0.0"
    assert not analyse(run, machine, trials).arms[4].failed_checks

    for trial in trials:
        if trial["arm"] == "both/duckdb":
            trial["work"]["read_bytes"] = 1 << 18
    assert [check.seen for check in analyse(run, machine, trials).arms[4].failed_checks] == ["25 %"]


@pytest.mark.parametrize(("answer", "truth", "error"), [(9.0, 10.0, -0.1), (0.0, 0.0, 0.0), (3.0, 0.0, 1.0)])
def test_an_error_is_relative(answer: float, truth: float, error: float) -> None:
    """Where nothing is right, all of an answer is wrong."""
    assert relative_error(answer, truth) == pytest.approx(error)
