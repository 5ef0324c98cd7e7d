"""The whole program on a real server: what a run leaves behind and what can be done with it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from small_experiment import SMALL, arm_of, command, run_experiment, trials_of, write_experiment

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished small run."""
    directory = tmp_path_factory.mktemp("small")
    run_experiment(write_experiment(directory), directory / "run")
    return directory / "run"


def report(run: Path, *arguments: object, cwd: Path | None = None) -> str:
    return subprocess.run(
        command("report", run, *arguments), capture_output=True, text=True, check=True, cwd=cwd, timeout=60
    ).stdout


def test_the_findings_have_the_contract_s_keys(run: Path) -> None:
    """The keys that others rely on."""
    findings = json.loads(report(run, "--json"))
    arm = arm_of(findings, "two")

    assert {"format", "experiment", "run_id", "seed", "blocks", "arms", "comparisons", "warnings"} <= findings.keys()
    assert {"arm", "levels", "trials", "units", "throughput_per_s", "profile_ns", "driver"} <= arm.keys()
    assert set(arm["units"]) == {"successful", "skipped", "failed", "retried", "late"}
    for clock in ("response_time_ns", "service_time_ns", "queue_time_ns"):
        assert set(arm[clock]) == {"mean", "p50", "p95", "p99"}
    assert set(arm["profile_ns"]) == {
        "queue",
        "cpu",
        "run_queue",
        "waits",
        "asleep_no_wait_event",
        "client_and_network",
        "unaccounted",
    }
    comparison = findings["comparisons"][0]
    assert {"arm", "baseline", "metric", "ratio", "p_value", "p_value_holm", "verdict", "blocks_needed"} <= set(
        comparison
    )


def test_a_moved_run_gives_the_same_findings_byte_for_byte(run: Path, tmp_path: Path) -> None:
    """Only the journal counts; the place, the time and the other files do not."""
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    shutil.copy(run / "journal.jsonl", moved)

    assert report(moved, "--json") == report(run, "--json") == report(run, "--json")


def test_cpu_and_run_queue_are_the_kernel_s(run: Path) -> None:
    """What all arms' profiles say is what the trials' records say, and no part but unaccounted is negative."""
    for trial in trials_of(run):
        profile = trial["outcome"]["profile"]
        parts = profile["queue_ns"] + profile["cpu_ns"] + profile["run_queue_ns"] + sum(profile["waits_ns"].values())
        parts += profile["asleep_no_wait_event_ns"] + profile["client_and_network_ns"] + profile["unaccounted_ns"]

        assert parts == profile["total_ns"]
        assert profile["server_clocks"] == "schedstat"


def test_the_same_seed_replays_the_same_order(run: Path, tmp_path: Path) -> None:
    """Arm for arm."""
    experiment = write_experiment(tmp_path)
    run_experiment(experiment, tmp_path / "again", "--blocks", 2)

    again = [trial["arm"] for trial in trials_of(tmp_path / "again")]
    assert again == [trial["arm"] for trial in trials_of(run)][: len(again)]


def test_a_finished_run_is_not_resumed(run: Path) -> None:
    """One line, exit code 2."""
    done = subprocess.run(command("run", "--resume", run), capture_output=True, text=True, check=False, timeout=60)

    assert done.returncode == 2
    assert done.stderr.startswith(f"dbdyno: --resume {run}: is complete")


def test_a_run_is_not_resumed_on_other_storage(run: Path, tmp_path: Path) -> None:
    """Half of the trials on a disk and half in memory would be one run in name only."""
    cut = tmp_path / "run"
    shutil.copytree(run, cut)
    lines = (cut / "journal.jsonl").read_text().splitlines(keepends=True)
    (cut / "journal.jsonl").write_text("".join(lines[:6]))
    memory = Path("/dev/shm") / f"dbdyno-test-{os.getpid()}"
    memory.mkdir(mode=0o711)
    try:
        done = subprocess.run(
            command("run", "--resume", cut, "--data-dir", memory),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    finally:
        shutil.rmtree(memory)

    assert done.returncode == 2
    assert "data_directory.file_system was" in done.stderr.splitlines()[-1]
    assert done.stderr.splitlines()[-1].endswith("'tmpfs' here; name the --data-dir of then")
    assert (cut / "journal.jsonl").read_text() == "".join(lines[:6])


def test_text_fits_80_columns_and_has_no_colour_codes(run: Path) -> None:
    """For mails, logs and narrow windows."""
    lines = report(run).splitlines()

    assert "\x1b" not in "".join(lines)
    assert [line for line in lines if len(line) > 80 and "/" not in line] == []
    assert lines[-1].startswith("Report:")


def test_memory_is_not_storage(tmp_path: Path) -> None:
    """On tmpfs it runs, and the verdict carries the warning."""
    memory = Path("/dev/shm") / f"dbdyno-test-{os.getpid()}"
    memory.mkdir(mode=0o711)
    try:
        findings = run_experiment(write_experiment(tmp_path), tmp_path / "run", "--data-dir", memory, "--blocks", 2)
        left_behind = list(memory.iterdir())
    finally:
        shutil.rmtree(memory)

    assert "tmpfs" in [warning["code"] for warning in findings["warnings"]]
    assert findings["machine"]["data_directory"]["file_system"] == "tmpfs"
    assert "tmpfs" in findings["comparisons"][0]["limited_by"]
    assert [path for path in left_behind if not path.name.startswith(".")] == []


def test_a_failing_script_is_a_recorded_outcome(tmp_path: Path) -> None:
    """The run ends with exit code 1 and the reason; the trials before it are kept."""
    text = SMALL.replace('script = "builtin:select-only"', 'script = "bad.sql"')
    experiment = write_experiment(tmp_path, text, {"bad.sql": "SELECT 1;\nSELECT no_such_function();\n"})

    done = subprocess.run(
        command("run", experiment, "--out", tmp_path / "run"), capture_output=True, text=True, check=False, timeout=120
    )

    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "bad.sql:2" in done.stderr.splitlines()[-1]
    assert "no_such_function" in done.stderr.splitlines()[-1]
    trials = trials_of(tmp_path / "run")
    assert {trial["status"] for trial in trials} == {"failed"}
    assert all(trial["reason"] for trial in trials)


def test_a_window_in_which_no_unit_ends_is_a_failed_trial(tmp_path: Path) -> None:
    """It has no figures, so its block could not count: it is repeated, and ends the run where it always is so."""
    text = SMALL.replace('script = "builtin:select-only"', 'statement = "SELECT pg_sleep(0.4)"')
    done = subprocess.run(
        command("run", write_experiment(tmp_path, text), "--out", tmp_path / "run"),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 1
    assert "failed twice: no unit of work succeeded within the window; use a longer window" in done.stderr
    assert "Traceback" not in done.stderr


def test_restore_gives_every_trial_the_same_data(tmp_path: Path) -> None:
    """A schema change without undo is gone in the next trial when reset restores the template."""
    text = SMALL.replace('["checkpoint"]', '["restore", "checkpoint"]').replace(
        "two = { clients = 2 }", 'two = { clients = 2, sql = "CREATE TABLE once (n int)" }'
    )
    findings = run_experiment(write_experiment(tmp_path, text), tmp_path / "run", "--blocks", 3)

    assert [arm["trials"] for arm in findings["arms"]] == [3, 3]


def test_role_and_server_settings_are_applied_and_taken_back(tmp_path: Path) -> None:
    """Read back in every trial, of all arms: role, reload and restart settings, each only in its own arm."""
    text = """
question = "Are settings what they say?"
baseline = { setting = "none" }
[workload]
schema = "none"
script = "one.sql"
[design]
blocks = 2
reset = []
warm_up = "10 ms"
window = "50 ms"
[factors.setting]
none = {}
role = { role = { work_mem = "5MB" } }
reload = { settings = { work_mem = "6MB" } }
restart = { settings = { max_connections = 77 } }
session = { set = { work_mem = "7MB" }, role = { work_mem = "8MB" } }
"""
    run_experiment(write_experiment(tmp_path, text, {"one.sql": "SELECT 1;\n"}), tmp_path / "run")

    seen: dict[str, list[dict[str, Any]]] = {}
    for trial in trials_of(tmp_path / "run"):
        seen.setdefault(trial["arm"], []).append(trial["settings"])
        assert trial["deviations"] == [] or trial["arm"] == "session"
    default = {"work_mem": "4MB", "max_connections": "100"}
    assert seen["role"] == [{**default, "work_mem": "5MB"}] * 2
    assert seen["reload"] == [{**default, "work_mem": "6MB"}] * 2
    assert seen["restart"] == [{**default, "max_connections": "77"}] * 2
    assert seen["session"] == [{**default, "work_mem": "7MB"}] * 2
    assert seen["none"] == [default] * 2
