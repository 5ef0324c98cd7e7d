"""Experiments whose arms do not do what their names say: each is caught by name, and its verdict is withheld."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from small_experiment import arm_of, command, run_experiment, write_experiment

pytestmark = [pytest.mark.server, pytest.mark.timed]

CACHES = """
question = "What does it cost to read from the device?"
baseline = { state = "cold" }
[target.settings]
autovacuum = false
[workload]
schema = "table.sql"
statement = "SELECT count(*) FROM t"
executions = 1
[design]
blocks = 2
[expect]
physical_reads = "100 %"
[factors.state]
cold      = { reset = ["cold-cache"] }
forgotten = { reset = ["checkpoint"] }
"""

# A table of 10,000 rows, one a key, and an index that the statement may use.
PLANS = """
question = "What does the index give?"
baseline = { index = "there" }
[target.settings]
autovacuum = false
[workload]
schema = "table.sql"
statement = "SELECT n FROM t WHERE k = 4711"
executions = 50
[design]
blocks = 2
reset = ["checkpoint"]
[expect]
plan = "Index Scan"
[factors.index]
there    = {}
gone     = { sql = "DROP INDEX t_k", undo = "CREATE INDEX t_k ON t (k)" }
wavering = { sql = "waver.sql", undo = "CREATE INDEX IF NOT EXISTS t_k ON t (k)" }
"""
TABLE = """
CREATE TABLE t AS SELECT k, k AS n, repeat('x', 500) AS filler FROM generate_series(1, 10000) AS k;
CREATE INDEX t_k ON t (k);
CREATE SEQUENCE turn;
"""
# It drops the index every second time.
WAVER = "DO $$ BEGIN IF nextval('turn') % 2 = 0 THEN DROP INDEX t_k; END IF; END $$"


def reported(run: Path) -> str:
    """The report on the terminal, as one line."""
    done = subprocess.run(command("report", run), capture_output=True, text=True, check=True, timeout=60)
    return " ".join(done.stdout.split())


def failed_checks(findings: dict[str, Any], arm: str) -> list[tuple[str, str, int]]:
    """Those of an arm: check, what was seen instead, in how many trials."""
    checks = arm_of(findings, arm)["checks"]
    return [(one["check"], one["seen"], one["failed_trials"]) for one in checks if one["failed_trials"]]


def test_a_cold_arm_that_was_read_from_cache(tmp_path: Path, cache: Path) -> None:
    """Its reset was forgotten: none of its reads is physical. The arm beside it is what it says."""
    run = tmp_path / "run"
    findings = run_experiment(write_experiment(tmp_path, CACHES, {"table.sql": TABLE}), run)

    (comparison,) = findings["comparisons"]
    assert failed_checks(findings, "cold") == []
    assert failed_checks(findings, "forgotten") == [("physical reads", "0 %", 2)]
    assert "check" in comparison["limited_by"]
    text = reported(run)
    assert "no verdict on forgotten against cold" in text
    assert "forgotten did not do what its name says: expected physical reads of 100 %, 0 % seen in 2 of 2" in text


def test_a_plan_that_flipped_and_one_that_wavers(tmp_path: Path, cache: Path) -> None:
    """A dropped index shows in every trial; one that is there every second time, in those without it."""
    run = tmp_path / "run"
    files = {"table.sql": TABLE, "waver.sql": WAVER}
    findings = run_experiment(write_experiment(tmp_path, PLANS, files), run)

    assert failed_checks(findings, "there") == []
    assert failed_checks(findings, "gone") == [("plan", "Seq Scan on t", 2)]
    assert failed_checks(findings, "wavering") == [("plan", "Seq Scan on t", 1)]
    (plan,) = arm_of(findings, "wavering")["plans"]
    assert {plan["shape"], *plan["other_shapes"]} == {"Index Scan using t_k on t", "Seq Scan on t"}
    limited = {one["arm"]: one["limited_by"] for one in findings["comparisons"]}
    assert "check" in limited["gone"]
    assert {"check", "plan_changed"} <= set(limited["wavering"])
    text = reported(run)
    assert "gone did not do what its name says: expected a plan with Index Scan, Seq Scan on t seen in 2 of 2" in text
    assert "wavering did not do what its name says: expected a plan with Index Scan, Seq Scan on t seen in 1 of" in text
