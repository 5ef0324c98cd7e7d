"""What server, host and database say of an arm's trials."""

from __future__ import annotations

from typing import Any

import pytest
import synthetic

from dbdyno.analysis.analyse import analyse
from dbdyno.analysis.findings import Device, Estimate, Findings, HostCpu, Outcome, Plan, Reads, Requests, ResetStep

Documents = tuple[dict[str, Any], dict[str, Any], list[dict[str, Any]]]


def with_evidence(**how: Any) -> Documents:
    """Two arms, six blocks."""
    run, machine, trials = synthetic.run(arms=2, blocks=6)
    synthetic.add_evidence(trials, **how)
    return run, machine, trials


def codes(findings: Findings) -> list[str]:
    """The codes of the warnings, but for undecided."""
    return [warning.code for warning in findings.warnings if warning.code != "undecided"]


def test_counters_are_per_unit_of_the_whole_trial() -> None:
    """Warm-up units stand below as their WAL stands above."""
    run, machine, trials = with_evidence()
    for trial in trials:
        trial["outcome"]["units_with_warm_up"] *= 2

    counters = analyse(run, machine, trials).arms[0].counters_per_unit

    assert counters["buffer_reads"] == 500.0
    assert counters["wal_bytes"] == 150.0


def test_a_counter_that_a_trial_lacks_is_left_out() -> None:
    """And all of them where older trials did not count the units of their warm-up."""
    run, machine, trials = with_evidence()
    del trials[0]["server"]["temp_bytes"]
    of_first = next(arm for arm in analyse(run, machine, trials).arms if arm.arm == trials[0]["arm"])
    assert "temp_bytes" not in of_first.counters_per_unit
    assert "wal_bytes" in of_first.counters_per_unit

    before = analyse(*synthetic.run(arms=2, blocks=6)).arms[0]
    assert (before.counters_per_unit, before.reads, before.device) == ({}, None, None)


def test_outcomes_and_their_difference() -> None:
    """The difference is taken within each trial."""
    run, machine, trials = with_evidence()

    assert analyse(run, machine, trials).arms[0].outcomes == [
        Outcome("pages", *(Estimate(pytest.approx(x), pytest.approx(x), pytest.approx(x)) for x in (1000, 2000, 1000))),
        Outcome("dead tuples", Estimate(0, 0, 0), *[Estimate(*[pytest.approx(50)] * 3)] * 2),
    ]


def test_reads_and_the_requests_of_the_device() -> None:
    """A unit reads 1,000 pages, 16 with a request; the device brought twice as much, 8 pages with a request each."""
    arm = analyse(*with_evidence()).arms[0]

    assert arm.reads is not None
    assert arm.reads.server.per_unit == pytest.approx(62.5, rel=1e-3)
    assert arm.reads.server.bytes_mean == pytest.approx(16 * 8192, rel=1e-3)
    assert (arm.reads.physical_share, arm.reads.device_known) == (1.0, True)
    assert arm.device == Device("vda", Requests(125.0, 16 * 8192), Requests(4.0, 8192), 2.0)


@pytest.mark.parametrize(
    ("device_bytes", "share", "known"), [(0, 0.0, True), (0.25, 0.25, True), (7.0, 1.0, True), (None, 1.0, False)]
)
def test_physical_reads_are_those_that_both_server_and_device_saw(
    device_bytes: float | None, share: float, known: bool
) -> None:
    """From the page cache: the server reads all, the device nothing. Without the device's counters: what was read."""
    run, machine, trials = with_evidence()
    for trial in trials:
        if device_bytes is None:
            trial["device"] = None
        else:
            trial["device"]["read_bytes"] = round(device_bytes * trial["server"]["read_bytes"])

    arm = analyse(run, machine, trials).arms[0]

    assert arm.reads == Reads(arm.reads.server, pytest.approx(share), known) if arm.reads else None
    assert (arm.device is None) == (device_bytes is None)


def test_a_server_that_does_not_count_requests_reads_page_by_page() -> None:
    """PostgreSQL 15: no pg_stat_io; pages of 16 KiB where it was built so."""
    run, machine, trials = with_evidence()
    machine["server"]["page_bytes"] = 16384
    for trial in trials:
        del trial["server"]["read_operations"], trial["server"]["read_bytes"]
        trial["device"] = None

    assert analyse(run, machine, trials).arms[0].reads == Reads(Requests(1000.0, 16384.0), 1.0, False)


def test_flushes_that_the_kernel_does_not_count_are_not_known() -> None:
    """Before Linux 5.5; the other counters stay."""
    run, machine, trials = with_evidence()
    for trial in trials:
        trial["device"]["flushes"] = None

    device = analyse(run, machine, trials).arms[0].device

    assert device == Device("vda", Requests(125.0, 16 * 8192), Requests(4.0, 8192), None)


def test_catalogs_in_the_requests_do_not_make_a_warm_arm_cold() -> None:
    """The server's count of requests holds the catalogs; the share is of the pages of tables and indexes."""
    run, machine, trials = with_evidence(cold=False)
    for trial in trials:
        trial["server"].update(read_operations=900, read_bytes=900 * 8192)

    reads = analyse(run, machine, trials).arms[0].reads

    assert reads is not None
    assert (reads.physical_share, reads.server.bytes_mean) == (0.0, 8192.0)


def test_a_warm_arm_has_no_mean_size() -> None:
    """No request, no size; the share is 0."""
    arm = analyse(*with_evidence(cold=False)).arms[0]

    assert arm.reads == Reads(Requests(0.0, None), 0.0, True)


def test_host_reset_and_plans() -> None:
    """Shares as they were, the reset's median and what it reached last, one plan for the statement."""
    run, machine, trials = with_evidence()
    for place, trial in enumerate(trial for trial in trials if trial["arm"] == "io-bound/wait-immediate"):
        trial["reset"][1].update(ns=(place + 1) * 100, resident_bytes=place)
        trial["plans"][0]["explain"] = {"Plan": {}} if trial["block"] == 0 else None

    arm = analyse(run, machine, trials).arms[0]

    assert arm.host_cpu == HostCpu(*(pytest.approx(share) for share in (0.5, 0.25, 0.125, 0.01)))
    assert arm.reset == [
        ResetStep("vacuum", 80_000_000.0, {}),
        ResetStep("cold-cache", 350.0, {"resident_bytes": 5, "how": ["posix_fadvise"]}),
    ]
    assert arm.plans == [
        Plan("scan.sql", 1, "Aggregate > Seq Scan on web_returns", ["Aggregate", "Seq Scan"], [], {"Plan": {}})
    ]


def test_steal_is_a_warning_above_two_per_cent() -> None:
    """Of the arm on which it was seen."""
    run, machine, trials = with_evidence()
    assert codes(analyse(run, machine, trials)) == []

    for trial in trials:
        trial["host"]["cpu_steal_share"] = 0.05 if trial["arm"] == "io-bound/wait-batch" else 0.0199

    found = analyse(run, machine, trials)
    [warning] = [warning for warning in found.warnings if warning.code == "steal"]
    assert (warning.arm, warning.message.partition(" of the CPU")[0]) == (
        "io-bound/wait-batch",
        "other guests of this host took 5.0 %",
    )


def test_lines_of_the_servers_log_stand_once() -> None:
    """In the order of first sight, with a warning that names the first."""
    run, machine, trials = with_evidence()
    for trial in trials:
        trial["server_log"] = ["WARNING: a", "WARNING: b"] if trial["arm"] == "io-bound/wait-batch" else []

    found = analyse(run, machine, trials)

    assert found.arms[1].server_log == ["WARNING: a", "WARNING: b"]
    assert codes(found) == ["server_log"]
    assert "the server wrote into its log during the trials: WARNING: a (and 1 more);" in found.warnings[0].message


def test_an_arm_on_another_server_uses_its_page_size() -> None:
    """Two servers in the machine record; the second arm ran on the second."""
    run, machine, trials = with_evidence()
    other = {**machine["server"], "page_bytes": 32768}
    machine["servers"] = [machine["server"], other]
    run["arms"][0]["server"], run["arms"][1]["server"] = 0, 1
    for trial in trials:
        del trial["server"]["read_operations"], trial["server"]["read_bytes"]

    sizes = [arm.reads.server.bytes_mean for arm in analyse(run, machine, trials).arms if arm.reads]

    assert sizes == [8192.0, 32768.0]


@pytest.mark.parametrize(("rows", "exposed"), [(0, False), (1, True), (None, True)])
def test_work_that_writes_no_row_exposes_no_commit(rows: int | None, exposed: bool) -> None:
    """The WAL of a reading arm is the server's own; a server that does not count rows is given the benefit."""
    run, machine, trials = synthetic.run(arms=2, blocks=6)
    for trial in trials:
        counted = {"rows_inserted": 0, "rows_updated": rows, "rows_deleted": 0}
        trial["server"] |= {} if rows is None else counted

    findings = analyse(run, machine, trials)

    assert [arm.exposure is not None for arm in findings.arms] == [exposed, exposed]
