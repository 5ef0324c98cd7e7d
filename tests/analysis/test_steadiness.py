"""Unsteady trials, each kind planted; and steady ones, which must not be flagged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import synthetic

from dbdyno.analysis.analyse import analyse
from dbdyno.analysis.findings import Findings, Steadiness
from dbdyno.analysis.steadiness import steadiness

ARM: dict[str, Any] = {"clients": 5, "arrival": {"kind": "closed"}}
STEP_NS = 100_000_000


def trial(units: Sequence[int], number: int = 0, **outcome: Any) -> dict[str, Any]:
    """As much of a trial's record as is looked at."""
    return {
        "trial": number,
        "server": {"checkpoints": 0, "autovacuums": 0},
        "outcome": {
            "window_ns": len(units) * STEP_NS,
            "mean_in_flight": 5.0,
            "series": {"step_ns": STEP_NS, "units": list(units)},
            "background": [],
            **outcome,
        },
    }


def judged(series: Sequence[Sequence[int]]) -> Steadiness:
    """The steadiness of an arm with these trials."""
    return steadiness(ARM, [trial(units, number) for number, units in enumerate(series)])


@pytest.mark.parametrize(("mean", "steps"), [(300, 10), (20, 10), (4, 8), (50, 47), (300, 600)])
def test_steady_trials_are_not_flagged(mean: int, steps: int) -> None:
    """Units that come at random: at most 1 % of 2,000 trials, and at most 1 % of 100 arms."""
    random = np.random.default_rng(20261121)
    arms = [judged(random.poisson(mean, (20, steps)).tolist()) for _ in range(100)]

    assert sum(len(flagged) for arm in arms for flagged in arm.flagged.values()) <= 20
    assert sum(not arm.warm_up_over for arm in arms) <= 1


def test_trials_that_vary_from_step_to_step_are_not_flagged() -> None:
    """Steps that vary by 20 % for reasons of their own are no step: at most 1 % of 2,000 trials."""
    random = np.random.default_rng(20261121)
    rates = 300 * np.exp(random.normal(0.0, 0.2, (2000, 10)))

    arms = [judged(random.poisson(rates[at : at + 20]).tolist()) for at in range(0, 2000, 20)]
    assert sum(len(flagged) for arm in arms for flagged in arm.flagged.values()) <= 20


@pytest.mark.parametrize("per_client", [1, 2, 3, 7])
def test_long_units_that_run_in_step_are_not_flagged(per_client: int) -> None:
    """Five clients end their units together: full steps and empty ones, and a window that begins between."""
    every = 20 // per_client
    units = [5 if step % every == every - 1 else 0 for step in range(20)]

    found = judged([units] * 12)

    assert found.flagged == {}
    assert found.warm_up_over


@pytest.mark.parametrize(("from_step", "code"), [(2, "warm_up"), (3, "step"), (5, "step"), (8, "step")])
@pytest.mark.parametrize("factor", [0.65, 1.5])
def test_a_planted_step_is_found(from_step: int, code: str, factor: float) -> None:
    """Wherever it is; one in the first fifth is the trial's own warm-up. Steady trials beside it are not flagged."""
    random = np.random.default_rng(20261121)
    rates = np.full((200, 10), 1000.0)
    rates[:100, from_step:] *= factor
    found = judged(random.poisson(rates).tolist())

    assert found.flagged == {code: list(range(100))}


def test_a_small_step_does_not_matter() -> None:
    """15 % is told from chance with so many units, and is still less than matters."""
    random = np.random.default_rng(20261121)
    rates = np.full((100, 10), 3000.0)
    rates[:, 5:] *= 1.15

    assert judged(random.poisson(rates).tolist()).flagged == {}


def test_a_short_stall_in_a_long_window_is_no_step() -> None:
    """0.2 s at the end of a minute."""
    assert judged([[300] * 598 + [0, 0]]).flagged == {}


@pytest.mark.parametrize(("first", "ratio", "over"), [(0.9, 0.9, False), (1.12, 1.12, False), (0.97, 0.97, True)])
def test_a_warm_up_that_is_not_over_is_found_over_all_trials(first: float, ratio: float, over: bool) -> None:
    """10 % in the first fifth is too little to be seen in one trial, and is plain over twelve."""
    random = np.random.default_rng(20261121)
    rates = np.full((12, 10), 500.0)
    rates[:, :2] *= first
    found = judged(random.poisson(rates).tolist())

    assert found.start_ratio == pytest.approx(ratio, abs=0.025)
    assert found.warm_up_over == over
    assert found.flagged == {}


def test_the_step_that_the_window_cuts_off_is_left_out() -> None:
    """A last step of half the length has half the units, and that is no slowing down."""
    units = [100, 101] * 5 + [10]
    cut = trial(units, window_ns=10 * STEP_NS + STEP_NS // 10)

    assert steadiness(ARM, [cut]).flagged == {}


def test_fixed_work_has_no_rate_to_keep() -> None:
    """From a cold cache it begins slowly, and that is what was asked for."""
    found = steadiness({**ARM, "fixed_units": 4_000}, [trial([100] * 4 + [400] * 6, number) for number in range(10)])

    assert (found.flagged, found.start_ratio, found.warm_up_over) == ({}, None, True)


def process(kind: str, waits: dict[str, int]) -> dict[str, Any]:
    """A background process and what it waited for."""
    return {"backend_type": kind, "waits_ns": waits}


@pytest.mark.parametrize(
    ("server", "background", "code"),
    [
        ({"checkpoints": 1}, [], "checkpoint"),
        ({}, [process("checkpointer", {"Timeout:CheckpointWriteDelay": 9})], "checkpoint"),
        ({}, [process("checkpointer", {"IO:DataFileSync": 9})], "checkpoint"),
        ({"autovacuums": 2}, [], "autovacuum"),
        ({}, [process("autovacuum worker", {})], "autovacuum"),
    ],
)
def test_the_servers_own_work_in_a_trial(server: dict[str, int], background: list[Any], code: str) -> None:
    """By its counters where it ended, by its processes where it was under way."""
    disturbed = trial([300] * 10, 7, background=background)
    disturbed["server"] |= server

    assert steadiness(ARM, [trial([300] * 10), disturbed]).flagged == {code: [7]}


def test_idle_processes_are_none() -> None:
    """A checkpoint that the reset asked for was over before the counters were read; its process sleeps."""
    idle = [process("checkpointer", {"Activity:CheckpointerMain": 9}), process("autovacuum launcher", {})]

    assert steadiness(ARM, [trial([300] * 10, background=idle)]).flagged == {}
    old = trial([300] * 10)
    old["server"] = {}
    assert steadiness(ARM, [old]).flagged == {}


def unsteady() -> Findings:
    """A run with a trial of each kind in its first arm, whose warm-up was not over."""
    run, machine, trials = synthetic.run(arms=2, blocks=10, seed=2)
    first, second = run["arms"][0]["arm"], run["arms"][1]["arm"]
    for one in trials:
        series = one["outcome"]["series"]
        series["units"] = [1000] * len(series["units"])
        if one["arm"] == first:
            series["units"][:2] = [900, 900]
    mine = [one for one in trials if one["arm"] == second]
    mine[3]["outcome"]["series"]["units"][5:] = [600] * 5
    mine[4]["outcome"]["series"]["units"][:2] = [600] * 2
    mine[5]["server"]["checkpoints"] = 1
    mine[6]["server"]["autovacuums"] = 1
    return analyse(run, machine, trials)


def test_flags_stand_on_the_trials_and_warnings_on_the_arm() -> None:
    """Nothing is dropped: every trial still counts."""
    findings = unsteady()
    by_code = {warning.code: warning for warning in findings.warnings}
    [first, second] = findings.arms

    assert [trial.warnings for trial in second.by_trial[3:7]] == [["step"], ["warm_up"], ["checkpoint"], ["autovacuum"]]
    assert (first.trials, second.trials) == (10, 10)
    assert by_code["warm_up"].arm == first.arm
    assert by_code["warm_up"].message.startswith("the first fifth of the window was 10.0 % slower than its last half")
    assert {by_code[code].arm for code in ("step", "checkpoint", "autovacuum")} == {second.arm}
    assert "within 2 of 10 trials (1 of them in the first fifth of the window)" in by_code["step"].message
    assert "a checkpoint was under way or ended in 1 of 10 trials" in by_code["checkpoint"].message
    assert [comparison.limited_by for comparison in findings.comparisons] == [["warm_up"]]
