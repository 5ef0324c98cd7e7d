"""The shipped experiment io-paths in small: every arm did what its name says, by the counters of kernel and server."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from small_experiment import arm_of, command, run_experiment, trials_of, write_experiment

from dbdyno import experiments
from dbdyno.design.experiment import load_experiment

pytestmark = pytest.mark.server

SHIPPED = experiments.find("io-paths")
# Another program that uses the disk meanwhile is in the device's counters: the least that can be said is a bound.
BY_HAND = ("read/direct", "read/buffered", "read/again", "write/direct", "write/buffered", "write/synchronous")


def small(directory: Path) -> Path:
    """144,466 rows."""
    text = SHIPPED.read_text().replace("scale  = 10\n", "scale  = 2\n")
    files = {path.name: path.read_text() for path in SHIPPED.parent.glob("*.sql")}
    return write_experiment(directory, text, files)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """One block: the findings and the trials."""
    directory = tmp_path_factory.mktemp("io-paths")
    findings = run_experiment(small(directory), directory / "run", "--quick", "--blocks", 1)
    return findings, trials_of(directory / "run")


@pytest.mark.nightly
def test_every_arm_did_what_its_name_says(run: tuple[dict[str, Any], list[dict[str, Any]]]) -> None:
    """18 arms; no check failed and none was left out."""
    findings, _ = run
    failed = {arm["arm"]: arm["checks"] for arm in findings["arms"] if any(c["failed_trials"] for c in arm["checks"])}

    assert failed == {}
    assert len(findings["arms"]) == len(load_experiment(SHIPPED).arms) == 18


@pytest.mark.nightly
def test_plain_io_moved_the_bytes_of_the_table(run: tuple[dict[str, Any], list[dict[str, Any]]]) -> None:
    """All of it once, cold from the storage and again from memory; its time is accounted for by its own clocks."""
    _, trials = run
    files = {trial["arm"]: trial["file"] for trial in trials}
    size = files["read/direct"]["file_bytes"]

    assert size > 20_000_000
    assert {files[arm]["bytes"] for arm in BY_HAND} == {size}
    assert files["row/direct"]["bytes"] == 200 * 8192
    assert [files[f"read/{path}"]["read_bytes"] >= 0.99 * size for path in ("direct", "buffered", "again")] == [
        True,
        True,
        False,
    ]
    assert files["read/direct"]["resident_bytes_after"] == 0
    assert files["write/buffered"]["resident_bytes_after"] >= size
    for trial in trials:
        if trial["file"] is not None:
            assert trial["outcome"]["profile"]["route"] == "own clocks"


@pytest.mark.nightly
def test_a_row_is_a_page(run: tuple[dict[str, Any], list[dict[str, Any]]]) -> None:
    """One buffer read of 8 kB a unit, and no hit: the wait for it is the latency of one page."""
    findings, _ = run
    for path in ("server", "server-direct"):
        arm = arm_of(findings, f"row/{path}")
        assert (arm["counters_per_unit"]["buffer_reads"], arm["counters_per_unit"]["buffer_hits"]) == (1.0, 0.0)
        assert arm["reads"]["server"]["bytes_mean"] == 8192
        assert arm["units"]["successful"] == 200
        assert "IO:DataFileRead" in arm["profile_ns"]["waits"]


@pytest.mark.nightly
def test_bytes_per_second_are_of_the_table(run: tuple[dict[str, Any], list[dict[str, Any]]]) -> None:
    """Whoever moved them."""
    findings, trials = run
    size = next(trial["file"]["file_bytes"] for trial in trials if trial["arm"] == "read/direct")
    for arm in ("read/again", "read/server", "write/server"):
        found = arm_of(findings, arm)
        moved = found["bytes_per_s"]["estimate"] * found["elapsed_ns"]["estimate"] / 1e9
        assert moved == pytest.approx(size, rel=1e-3)


def test_plain_io_runs_beside_a_server(tmp_path: Path, cache: Path) -> None:
    """Two arms of a small table: read by a program, and by a session."""
    text = """
question = "?"
metric = "bytes_per_s"
baseline = { path = "plain" }
[workload]
schema = "pgbench"
statement = "SELECT count(*) FROM pgbench_accounts"
executions = 1
[design]
blocks = 1
reset = ["cold-cache"]
[expect]
physical_reads = "100 %"
[factors.work.read]
file = { relation = "pgbench_accounts", access = "read" }
[factors.path]
plain = { file = { open = "buffered" } }
server = {}
"""
    findings = run_experiment(write_experiment(tmp_path, text), tmp_path / "run")

    plain, server = (arm_of(findings, f"read/{path}") for path in ("plain", "server"))
    assert plain["scripts"] == ["buffered read of pgbench_accounts in order, 1024 KiB a request"]
    assert plain["bytes_per_s"]["estimate"] > 0 < server["bytes_per_s"]["estimate"]
    assert plain["profile_route"] == "own clocks"
    assert [check for check in plain["checks"] if check["failed_trials"]] == []


def test_a_table_that_is_not_there_is_said(tmp_path: Path, cache: Path) -> None:
    """One line with the key, exit code 2."""
    text = small(tmp_path).read_text().replace('relation = "web_returns"', 'relation = "returns"')
    done = subprocess.run(
        command("run", write_experiment(tmp_path, text), "--quick", "--out", tmp_path / "run"),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("dbdyno: file.relation = 'returns': there is no such table")
