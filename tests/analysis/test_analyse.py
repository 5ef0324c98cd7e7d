"""Whole runs with planted truths: figures, profiles, exposure, warnings and the document itself."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
import synthetic

from dbdyno.analysis.analyse import analyse
from dbdyno.analysis.findings import Findings, Spread, to_json
from dbdyno.analysis.warnings import arm_warnings, undecided_warnings

IO_BASELINE = "io-bound/wait-immediate"
IO_NOWAIT = "io-bound/nowait-batch"


def codes(findings: Findings, arm: str | None = None) -> list[str]:
    """The codes of the warnings on one arm, or on the run."""
    return [warning.code for warning in findings.warnings if warning.arm == arm]


@pytest.fixture(scope="module")
def findings() -> Findings:
    """The ordinary run, judged once."""
    return analyse(*synthetic.run(arms=8, blocks=10, seed=1))


def test_arms_and_comparisons_are_in_file_order(findings: Findings) -> None:
    """Eight arms; each but the two baselines is compared within its load."""
    assert [arm.arm for arm in findings.arms] == list(synthetic.SHAPES)
    assert [(c.arm, c.baseline) for c in findings.comparisons] == [
        (arm, f"{arm.partition('/')[0]}/wait-immediate")
        for arm in synthetic.SHAPES
        if not arm.endswith("/wait-immediate")
    ]


def test_planted_effect_is_found_within_its_interval(findings: Findings) -> None:
    """Throughput is clients / response time, so the true ratio is that of the planted response times."""
    truth = synthetic.SHAPES[IO_BASELINE].response_ns / synthetic.SHAPES[IO_NOWAIT].response_ns
    found = next(c for c in findings.comparisons if c.arm == IO_NOWAIT)

    assert found.verdict == "better"
    assert found.ratio.low is not None
    assert found.ratio.high is not None
    assert found.ratio.low < truth < found.ratio.high
    assert found.p_value == pytest.approx(2 / 2**10)
    assert found.p_value_holm == pytest.approx(6 * 2 / 2**10)


def test_ratios_without_noise_are_exact() -> None:
    """No noise: every block shows the planted ratio but for the rounding of unit counts."""
    found = analyse(*synthetic.run(arms=4, blocks=6, noise=0.0)).comparisons[-1]
    truth = synthetic.SHAPES[IO_BASELINE].response_ns / synthetic.SHAPES[IO_NOWAIT].response_ns

    assert found.block_ratios == pytest.approx([truth] * 6, rel=1e-5)
    assert found.ratio.estimate == pytest.approx(truth, rel=1e-5)


@pytest.mark.parametrize("metric", ["response_time_ns_mean", "response_time_ns_p50", "response_time_ns_p99"])
def test_shorter_times_are_better(metric: str) -> None:
    """For times less is better, and the ratio is below 1."""
    found = analyse(*synthetic.run(arms=4, blocks=8, metric=metric))

    assert not found.higher_is_better
    assert found.comparisons[-1].verdict == "better"
    assert found.comparisons[-1].ratio.estimate < 0.3


def test_rows_per_s_counts_rows() -> None:
    """Ten rows a unit in a unit half as fast: five times the rows."""
    one = synthetic.Shape(cpu=1_000_000, run_queue=0, waits={}, rows_per_unit=1)
    ten = dataclasses.replace(one, cpu=2 * one.response_ns - one.response_ns + one.cpu, rows_per_unit=10)
    run = synthetic.run(blocks=6, noise=0.0, metric="rows_per_s", shapes={"x/rows-1": one, "x/rows-10": ten})

    found = analyse(*run)

    assert found.comparisons[0].ratio.estimate == pytest.approx(5.0, rel=1e-3)
    rows = found.arms[1].rows_per_s
    assert rows is not None
    assert rows.estimate == pytest.approx(found.arms[1].throughput_per_s.estimate * 10)


def test_profile_parts_sum_to_the_mean_response_time(findings: Findings) -> None:
    """The identity, for every arm, against the sums of the trials themselves."""
    _, _, trials = synthetic.run(arms=8, blocks=10, seed=1)
    for arm in findings.arms:
        clocks = [trial["outcome"]["response_time"] for trial in trials if trial["arm"] == arm.arm]
        mean = sum(clock["sum_ns"] for clock in clocks) / sum(clock["count"] for clock in clocks)

        assert sum(arm.profile_ns.parts().values()) == pytest.approx(mean, rel=1e-12)
        assert arm.profile_total_ns == pytest.approx(mean, rel=1e-12)


def test_a_profile_that_does_not_sum_is_refused() -> None:
    """An instrument that loses time is a bug, not a finding."""
    run, machine, trials = synthetic.run(arms=2, blocks=6)
    trials[3]["outcome"]["profile"]["cpu_ns"] += 1

    with pytest.raises(AssertionError, match="parts sum to"):
        analyse(run, machine, trials)


def test_failed_units_are_in_the_profile() -> None:
    """The server worked for them too: as many failed as succeeded, so a unit's share of each part is half."""
    run, machine, trials = synthetic.run(arms=2, blocks=6)
    before = analyse(run, machine, trials).arms[0].profile_total_ns
    for trial in trials:
        units = trial["outcome"]["units"]
        units.update(failed=units["successful"], failed_unfinished=7)

    assert analyse(run, machine, trials).arms[0].profile_total_ns == pytest.approx(before / 2)


def test_why_lists_every_part_by_the_size_of_its_change() -> None:
    """Without noise the differences are the planted ones, and they sum to that of the response times."""
    found = analyse(*synthetic.run(arms=4, blocks=6, noise=0.0))
    why = found.comparisons[-1].why
    base, arm = synthetic.SHAPES[IO_BASELINE], synthetic.SHAPES[IO_NOWAIT]

    assert [reason.part for reason in why[:3]] == ["LWLock:WALWrite", "IO:WalSync", "run_queue"]
    assert why[1].difference_ns == pytest.approx(-base.waits["IO:WalSync"], rel=1e-3)
    assert why[1].arm_ns == 0.0
    assert why[1].baseline_share == pytest.approx(base.waits["IO:WalSync"] / base.response_ns, rel=1e-3)
    total = sum(reason.difference_ns for reason in why)
    assert total == pytest.approx(arm.response_ns - base.response_ns, rel=1e-3)


def test_missing_clocks_leave_the_sum_exact() -> None:
    """No CPU clock in one trial: CPU is unknown for the arm, and unaccounted takes what the others had."""
    run, machine, trials = synthetic.run(arms=2, blocks=6)
    profile = next(trial for trial in trials if trial["arm"] == IO_BASELINE)["outcome"]["profile"]
    profile["unaccounted_ns"] += profile["cpu_ns"] + profile["run_queue_ns"]
    profile.update(cpu_ns=None, run_queue_ns=None)

    found = analyse(run, machine, trials)

    assert found.arms[0].profile_ns.cpu is None
    assert sum(found.arms[0].profile_ns.parts().values()) == pytest.approx(found.arms[0].profile_total_ns)
    assert "no_server_clocks" in codes(found, IO_BASELINE)


def test_exposure_by_hand() -> None:
    """100 bytes a ms; flush stands still for 2 ms, then catches up: ages and bytes can be counted on fingers."""
    run, machine, trials = synthetic.run(arms=2, blocks=6)
    ms = 1_000_000
    samples = [[0, 1000, 1000], [ms, 1100, 1000], [2 * ms, 1200, 1050], [3 * ms, 1300, 1300]]
    for trial in trials:
        trial["outcome"]["exposure"]["samples"] = samples
        trial["outcome"]["throughput_per_s"] = 2000.0  # 6 units in 3 ms: 50 bytes each

    found = analyse(run, machine, trials).arms[1].exposure

    assert found is not None
    assert found.samples == 4 * 6
    assert (found.bytes.mean, found.bytes.max) == (62.5, 150.0)
    assert found.commits == Spread(mean=1.25, p95=pytest.approx(3.0), max=3.0)
    assert (found.age_ns.mean, found.age_ns.max) == (0.625 * ms, 1.5 * ms)


def test_exposure_before_the_first_sample_is_dated_by_the_mean_rate() -> None:
    """At the first sample 300 bytes wait; at 100 bytes a ms they have waited 3 ms."""
    run, machine, trials = synthetic.run(arms=2, blocks=6)
    for trial in trials:
        trial["outcome"]["exposure"]["samples"] = [[0, 1000, 700], [1_000_000, 1100, 1100]]

    found = analyse(run, machine, trials).arms[0].exposure

    assert found is not None
    assert found.age_ns.max == pytest.approx(3_000_000)


def test_exposure_of_planted_flush_rhythm() -> None:
    """A flush every T that takes f: the age is uniform between f and T + f."""
    found = analyse(*synthetic.run(arms=4, blocks=10)).arms[3].exposure
    shape = synthetic.SHAPES[IO_NOWAIT]

    assert found is not None
    assert found.acknowledged
    assert found.age_ns.mean == pytest.approx(shape.flush_time_ns + shape.flush_period_ns / 2, rel=0.05)
    assert found.age_ns.max <= (shape.flush_time_ns + shape.flush_period_ns) * 1.01


def test_waiting_arms_risk_nothing_acknowledged(findings: Findings) -> None:
    """synchronous_commit on: what is exposed is work in flight."""
    acknowledged = {arm.arm.partition("/")[2]: arm.exposure.acknowledged for arm in findings.arms if arm.exposure}

    assert acknowledged == {
        "wait-immediate": False,
        "wait-batch": False,
        "nowait-immediate": True,
        "nowait-batch": True,
    }


def test_exposure_that_was_not_sampled_is_none() -> None:
    """`exposure: null` in the outcome."""
    run, machine, trials = synthetic.run(arms=2, blocks=6)
    for trial in trials:
        trial["outcome"]["exposure"] = None

    assert analyse(run, machine, trials).arms[0].exposure is None


def test_with_five_blocks_nothing_is_decided() -> None:
    """Intervals are null, verdicts undecided, and the advice is the least that can decide."""
    found = analyse(*synthetic.run(arms=8, blocks=5))

    for comparison in found.comparisons:
        assert (comparison.ratio.low, comparison.ratio.high, comparison.p_value_holm) == (None, None, None)
        assert (comparison.verdict, comparison.blocks_needed) == ("undecided", 8)
    assert found.arms[0].throughput_per_s.low is None
    assert "few_blocks" in codes(found)
    assert next(w.message for w in found.warnings if w.code == "undecided").endswith(
        "dbdyno run commit-write --blocks 8"
    )


def test_a_failed_trial_repeats_its_block() -> None:
    """The first attempt of the block does not count, its repeat does: figures and order come from the repeat."""
    found = analyse(*synthetic.run(arms=4, blocks=6, failed=[(2, IO_NOWAIT)]))

    assert found.blocks_complete == 6
    assert [arm.trials for arm in found.arms] == [6] * 4
    repeated = [trial for arm in found.arms for trial in arm.by_trial if trial.block == 2]
    assert {trial.attempt for trial in repeated} == {1}
    assert {trial.order for trial in repeated} == {24, 25, 26, 27}
    assert [place.status for place in found.schedule if place.block == 2] == ["repeated"] * 4
    assert "failed_trials" in codes(found)


def test_an_interrupted_run_counts_its_complete_blocks() -> None:
    """Stopped in the middle of the seventh block."""
    run, machine, trials = synthetic.run(arms=4, blocks=10)

    found = analyse(run, machine, trials[:26])

    assert (found.blocks, found.blocks_complete) == (10, 6)
    assert [len(comparison.block_ratios) for comparison in found.comparisons] == [6, 6, 6]
    assert [place.status for place in found.schedule].count("not_run") == 14
    assert next(w.message for w in found.warnings if w.code == "incomplete").endswith("dbdyno run --resume RUN_DIR")


def test_without_a_complete_block_there_are_figures_but_no_comparison() -> None:
    """Stopped in the first block: what was measured is shown."""
    run, machine, trials = synthetic.run(arms=4, blocks=10)

    found = analyse(run, machine, trials[:3])

    assert (len(found.arms), found.comparisons) == (3, [])
    json.loads(to_json(found))


def test_a_run_without_trials_is_a_document() -> None:
    """Nothing measured yet: no arm, no comparison, and the warnings say so."""
    run, machine, _ = synthetic.run(arms=4, blocks=10)

    found = analyse(run, machine, [])

    assert (found.arms, found.comparisons) == ([], [])
    assert "incomplete" in codes(found)


def test_an_ordinary_run_has_no_warning_but_undecided(findings: Findings) -> None:
    """Warnings must mean something: a healthy instrument raises none."""
    assert {warning.code for warning in findings.warnings} <= {"undecided"}


def _outcome_change(path: str, value: Any) -> Any:
    def change(trial: dict[str, Any]) -> None:
        *way, last = path.split(".")
        place = trial
        for key in way:
            place = place[key]
        place[last] = value

    return change


@pytest.mark.parametrize(
    ("code", "change", "in_verdict"),
    [
        ("client_bound", _outcome_change("outcome.driver.busiest_thread_share", 0.95), True),
        ("driver_cpu", _outcome_change("outcome.driver.cpu_ns", 900_000_000), True),
        ("late", _outcome_change("outcome.driver.lateness_ns.p99", 5_000_000), True),
        ("little", _outcome_change("outcome.mean_in_flight", 4.5), True),
        ("deviation", _outcome_change("deviations", ["synchronous_commit: set to off, the session says on"]), True),
        ("waits_over_sql", _outcome_change("outcome.profile.route", "sql"), False),
        ("full_page_images", synthetic.storm, False),
        ("failed_units", _outcome_change("outcome.units.failed", 3), False),
    ],
)
def test_warning_on_an_arm(code: str, change: Any, in_verdict: bool) -> None:
    """Each fault is seen on its arm only, and those that change a verdict's worth stand beside it."""
    run, machine, trials = synthetic.run(arms=4, blocks=8)
    for trial in trials:
        if trial["arm"] == IO_NOWAIT:
            change(trial)

    found = analyse(run, machine, trials)

    assert codes(found, IO_NOWAIT) == [code]
    assert codes(found, IO_BASELINE) == []
    assert [comparison.limited_by for comparison in found.comparisons] == [[], [], [code] if in_verdict else []]


def test_unaccounted_time_is_a_warning() -> None:
    """More than a tenth of the response time unexplained, either way."""
    shape = dataclasses.replace(synthetic.SHAPES[IO_BASELINE], unaccounted=-500_000)
    found = analyse(*synthetic.run(blocks=6, shapes={"x/a": shape, "x/b": synthetic.SHAPES[IO_NOWAIT]}))

    assert codes(found, "x/a") == ["unaccounted"]
    assert codes(found, "x/b") == []


def test_an_arm_that_did_not_do_what_it_says_gets_no_verdict() -> None:
    """However great the effect."""
    run, machine, trials = synthetic.run(arms=4, blocks=8)
    next(trial for trial in trials if trial["arm"] == IO_NOWAIT)["deviations"] = ["synchronous_commit: on"]

    found = analyse(run, machine, trials).comparisons[-1]

    assert (found.verdict, found.blocks_needed) == ("undecided", None)


def test_storage_warnings_stand_in_every_verdict() -> None:
    """A data directory on tmpfs limits all that was concluded; a small machine is only mentioned."""
    run, machine, trials = synthetic.run(arms=4, blocks=8)
    machine["warnings"] = [
        {"code": "tmpfs", "message": "data on tmpfs: a flush costs nothing; use --data-dir"},
        {"code": "few_cpus", "message": "2 CPUs for the server and the load; use a machine with 4"},
    ]

    found = analyse(run, machine, trials)

    assert codes(found)[:2] == ["tmpfs", "few_cpus"]
    assert all(comparison.limited_by == ["tmpfs"] for comparison in found.comparisons)


def test_left_out_arms_are_named() -> None:
    """With the reason the runner gave."""
    run, machine, trials = synthetic.run(arms=4, blocks=8)
    run["left_out"] = [{"arm": "io-bound/nowait-eager", "reason": "needs wal_writer_delay, and the server is not ours"}]

    assert codes(analyse(run, machine, trials), "io-bound/nowait-eager") == ["left_out"]


def test_the_document_is_the_contract(findings: Findings) -> None:
    """The keys that others rely on, and no number that JSON cannot hold."""
    document = json.loads(to_json(findings), parse_constant=lambda name: pytest.fail(f"{name} in the document"))

    assert (document["format"], document["blocks"], document["seed"]) == (1, 10, 1)
    for arm in document["arms"]:
        assert set(arm["throughput_per_s"]) == {"estimate", "low", "high"}
        assert set(arm["response_time_ns"]) == {"mean", "p50", "p95", "p99"}
        assert {
            "queue",
            "cpu",
            "run_queue",
            "waits",
            "asleep_no_wait_event",
            "client_and_network",
            "unaccounted",
        } == set(arm["profile_ns"])
    keys = {"arm", "baseline", "metric", "ratio", "p_value", "p_value_holm", "verdict", "blocks_needed"}
    assert all(keys <= set(comparison) for comparison in document["comparisons"])


def test_the_same_documents_give_the_same_bytes() -> None:
    """Nothing in the analysis depends on anything but its input."""
    documents = synthetic.run(arms=4, blocks=8)

    assert to_json(analyse(*documents)) == to_json(analyse(*documents))


def test_background_processes_have_shares_of_their_own_time() -> None:
    """Two I/O workers, each watched for 1.25 s of a window of 1 s: no share of a process passes 100 %."""
    run, machine, trials = synthetic.run(arms=2, blocks=6)
    worker = {"pid": 1, "backend_type": "io worker", "cpu_ns": 250_000_000, "run_queue_ns": 0}
    idle = {"waits_ns": {"Activity:IoWorkerMain": 1_000_000_000}, "asleep_no_wait_event_ns": 0}
    for trial in trials:
        trial["outcome"]["background"] = [{**worker, **idle}, {**worker, **idle}]

    background = analyse(run, machine, trials).arms[0].background

    assert [process.backend_type for process in background] == ["io worker"]
    assert background[0].cpu_share == pytest.approx(0.4)
    assert background[0].wait_shares == {"Activity:IoWorkerMain": pytest.approx(0.8)}


def test_the_advice_on_undecided_comparisons_is_not_that_of_the_hardest() -> None:
    """It names the blocks that would decide half of them, and those for all."""
    run, machine, trials = synthetic.run(arms=8, blocks=10, seed=3)
    findings = analyse(run, machine, trials)
    needs = (11, 40, None, 900)
    undecided = [
        dataclasses.replace(findings.comparisons[0], verdict="undecided", blocks_needed=blocks, limited_by=[])
        for blocks in needs
    ]

    [warning] = undecided_warnings(run, undecided)

    assert warning.message == (
        "4 of 4 comparisons undecided; about 40 blocks would decide half of them, 900 all those that can be decided:"
        " dbdyno run commit-write --blocks 40"
    )


@pytest.mark.parametrize(
    ("think_time_ns", "units", "warned"), [(0, 300, True), (500_000_000, 300, False), (1, 3000, True)]
)
def test_little_s_law_may_be_off_by_chance_where_users_think(think_time_ns: int, units: int, warned: bool) -> None:
    """300 units of users who think are in a window give or take 17, which is 6 %; 4 % off is nothing then."""
    findings = analyse(*synthetic.run(arms=2, blocks=6))
    arm = findings.arms[0]
    changed = dataclasses.replace(
        arm,
        arrival={"kind": "closed", "think_time_ns": think_time_ns},
        little_discrepancy=0.04,
        units=dataclasses.replace(arm.units, successful=units * arm.trials),
    )

    found = arm_warnings(changed, findings.machine, findings.machine["server"])

    assert ("little" in [warning.code for warning in found]) == warned


def test_a_self_test_that_failed_is_a_warning_of_the_whole_run() -> None:
    """What it missed, profiles may miss; one that held, or met a busy machine, is none."""
    run, machine, trials = synthetic.run(arms=2, blocks=6)
    found = {}
    for verdict in ("holds", "machine too busy", "fails"):
        machine["instrument"]["verdict"] = verdict
        found[verdict] = codes(analyse(run, machine, trials))

    assert {verdict for verdict, said in found.items() if "self_test" in said} == {"fails"}
