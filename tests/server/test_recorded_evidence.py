"""The whole program: what a trial's record says of the work, and experiments that are not what they say."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from small_experiment import arm_of, command, run_experiment, trials_of, write_experiment

pytestmark = pytest.mark.server

COUNTED = """
question = "Is everything recorded?"
baseline = { width = "narrow" }
[workload]
schema = "schema.sql"
script = "work.sql"
units = 30
[design]
blocks = 2
[outcomes]
rows = "SELECT count(*) FROM things"
bytes = "SELECT sum(length(filler)) FROM things"
[invariants]
unnamed = "SELECT count(*) FROM things WHERE filler IS NULL"
[expect]
relation_bytes = { things = { at_least = "8 kB" }, nothing = {} }
settings = { random_page_cost = 4, shared_buffers = "128MB" }
[factors.width]
narrow = { variables = { width = 10 }, set = { work_mem = "1MB" } }
wide = { variables = { width = 500 }, set = { work_mem = "2048kB", enable_seqscan = false } }
"""
SCHEMA = "CREATE TABLE things (n int PRIMARY KEY, filler text); INSERT INTO things SELECT 0, 'x'"
WORK = """\\set twice 2 * :width
INSERT INTO things SELECT coalesce(max(n), 0) + 1, repeat('x', :width) FROM things;
SELECT filler FROM things WHERE n = :twice;
DO $$ BEGIN RAISE WARNING 'thing % is too wide', (SELECT max(n) FROM things); END $$;
SELECT n AS last FROM things ORDER BY n DESC LIMIT 1 \\gset
SELECT filler FROM things WHERE n = :last;
"""


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The trials of a small run, in order."""
    directory = tmp_path_factory.mktemp("counted")
    files = {"schema.sql": SCHEMA, "work.sql": WORK}
    run_experiment(write_experiment(directory, COUNTED, files), directory / "run")
    return trials_of(directory / "run")


def of_arm(records: list[dict[str, Any]], arm: str) -> list[dict[str, Any]]:
    return [record for record in records if record["arm"] == arm]


def test_outcomes_and_invariants_are_asked_before_and_after(records: list[dict[str, Any]]) -> None:
    """Integers stay integers, and a sum (numeric) becomes a number."""
    width = {"narrow": 10, "wide": 500}
    for record in records:
        rows, size = record["outcomes"]["rows"], record["outcomes"]["bytes"]

        assert rows["after"] - rows["before"] == 30
        assert size["after"] - size["before"] == 30 * width[record["arm"]]
        assert record["invariants"] == {"unnamed": 0}


def test_counters_are_those_of_the_work(records: list[dict[str, Any]]) -> None:
    """Thirty rows by thirty units, whoever else looked; and the machine was busy meanwhile."""
    for record in records:
        assert record["server"]["rows_inserted"] == 30
        assert record["server"]["buffer_hits"] > 60
        assert record["host"]["cpu_user_share"] + record["host"]["cpu_system_share"] > 0
        assert abs(sum(record["host"].values()) - 1) < 1e-9
        if record["device"] is not None:
            assert set(record["device"]) == {"name", "reads", "read_bytes", "writes", "write_bytes", "flushes"}


def test_noise_is_recorded_where_the_kernel_shows_it(records: list[dict[str, Any]]) -> None:
    """Shares of a span; on this host the server's processes can be told from those of others."""
    for record in records:
        noise = record["noise"]
        assert 0 <= noise["other_cpu_share"] <= 1
        assert Path("/proc/pressure/io").exists() == ("io_pressure_some_share" in noise)
        assert (record["device"] is not None) == ("other_disk_share" in noise)


def test_settings_are_those_of_all_arms(records: list[dict[str, Any]]) -> None:
    """With their source; what an arm does not set is there for comparison, and spellings do not matter."""
    narrow, wide = of_arm(records, "narrow")[0], of_arm(records, "wide")[0]

    assert narrow["settings"] == {
        "work_mem": "1MB",
        "random_page_cost": "4",
        "shared_buffers": "128MB",
        "enable_seqscan": "on",
    }
    assert (wide["settings"]["work_mem"], wide["settings"]["enable_seqscan"]) == ("2MB", "off")
    assert narrow["setting_origins"]["work_mem"] == {"source": "session", "pending_restart": False}
    assert narrow["setting_origins"]["enable_seqscan"] == {"source": "default", "pending_restart": False}
    assert [record["deviations"] for record in records] == [[]] * 4


def test_each_statement_has_its_plan_under_the_arm_s_settings(records: list[dict[str, Any]]) -> None:
    """Executed in the first block only; where a value is unknown, the generic plan; and nothing of it stays."""
    for record in records:
        shapes = {plan["line"]: plan["shape"] for plan in record["plans"]}
        assert list(shapes) == [2, 3, 5, 6]
        assert {plan["script"] for plan in record["plans"]} == {"work.sql"}
        assert [plan["explain"] is not None for plan in record["plans"]] == (
            [True, True, True, False] if record["block"] == 0 else [False] * 4
        )
    wide = of_arm(records, "wide")[0]["plans"]
    assert wide[1]["shape"] == "Index Scan using things_pkey on things"
    assert wide[1]["nodes"] == ["Index Scan"]
    assert wide[3]["shape"] == "Index Scan using things_pkey on things"
    explained = wide[0]["explain"]["Plan"]
    assert (explained["Operation"], explained["Actual Loops"], explained["WAL Records"] > 0) == ("Insert", 1, True)
    assert wide[0]["explain"]["Settings"]["enable_seqscan"] == "off"


def test_sizes_are_of_the_relation_itself_and_before_the_work(records: list[dict[str, Any]]) -> None:
    """What does not exist has none."""
    sizes = [record["relation_bytes"] for record in sorted(records, key=lambda record: record["trial"])]

    assert [set(size) for size in sizes] == [{"things"}] * 4
    assert sizes[0]["things"] == 8192
    assert sizes[-1]["things"] > 8192


def test_warnings_of_the_work_are_kept_once(records: list[dict[str, Any]]) -> None:
    """Without time and pid; those that differ in numbers only are one."""
    for record in records:
        (line,) = record["server_log"]
        assert line.startswith("WARNING: thing ")
        assert line.endswith(" is too wide")


NOT_TAKEN = """
question = "Does the way of I/O matter?"
metric = "throughput_per_s"
baseline = { io = "worker" }
[workload]
schema = "none"
statement = "SELECT 1"
[design]
blocks = 6
reset = []
warm_up = "0 ms"
window = "50 ms"
[factors.io]
worker = {}
[factors.io.sync]
sql = "ALTER SYSTEM SET io_method = 'sync'"
undo = "ALTER SYSTEM RESET io_method"
expect = { settings = { io_method = "sync" } }
"""


def test_a_setting_that_waits_for_a_restart_is_told_by_name(tmp_path: Path) -> None:
    """Six blocks would do for a verdict; an arm that is not what it says gets none."""
    findings = run_experiment(write_experiment(tmp_path, NOT_TAKEN), tmp_path / "run")
    trials = [trial for trial in trials_of(tmp_path / "run") if trial["status"] == "ok"]

    line = "io_method: expected sync, the session says worker; it waits for a restart"
    assert {tuple(trial["deviations"]) for trial in trials if trial["arm"] == "sync"} == {(line,)}
    assert [comparison["verdict"] for comparison in findings["comparisons"]] == ["undecided"]
    said = "expected io_method = sync, io_method = worker (it waits for a restart) seen in 6 of 6 trials"
    assert [said in warning["message"] for warning in findings["warnings"] if warning["code"] == "check"] == [True]
    assert arm_of(findings, "worker")["trials"] == 6


IDENTICAL = """
question = "Are four megabytes more than four megabytes?"
baseline = { memory = "default" }
[workload]
schema = "none"
statement = "SELECT 1"
[design]
blocks = 6
reset = []
warm_up = "0 ms"
window = "50 ms"
[factors.memory]
default = {}
same = { set = { work_mem = "4096kB" } }
"""


def failed(path: Path, out: Path) -> tuple[int, str, list[dict[str, Any]]]:
    """Exit code, last line of the errors, the journal's bodies with their kind."""
    done = subprocess.run(
        command("run", path, "--out", out, "--seed", 1, "--json"),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    lines: list[Mapping[str, Any]] = [json.loads(line) for line in (out / "journal.jsonl").read_text().splitlines()]
    return done.returncode, done.stderr.splitlines()[-1], [{"kind": line["kind"], **line["body"]} for line in lines]


def test_two_arms_that_turn_out_identical_end_the_run(tmp_path: Path) -> None:
    """After the first block, with what was measured kept."""
    code, said, lines = failed(write_experiment(tmp_path, IDENTICAL), tmp_path / "run")

    expected = "arms 'default' and 'same' turned out identical: work_mem is 4MB in both; change or drop one"
    assert code == 1
    assert expected in said
    assert [line["kind"] for line in lines] == ["run", "machine", "trial", "trial", "end"]
    assert lines[-1]["reason"] == expected


def test_an_outcome_that_is_no_number_ends_the_run_at_its_first_use(tmp_path: Path) -> None:
    """The user's mistake, not the arm's: no trial is tried again."""
    text = IDENTICAL.replace("[factors.memory]", '[outcomes]\npages = "SELECT 1, 2"\n[factors.memory]')
    code, said, lines = failed(write_experiment(tmp_path, text), tmp_path / "run")

    assert code == 2
    assert "outcomes.pages: came back with one row of 2 columns; write SQL that gives one row with one number" in said
    assert [line["kind"] for line in lines] == ["run", "machine", "end"]
