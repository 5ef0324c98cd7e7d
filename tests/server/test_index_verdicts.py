"""Three planted indexes through the whole program: one useless, one vital, one of no effect."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from small_experiment import command, run_experiment, write_experiment

pytestmark = [pytest.mark.server, pytest.mark.timed]

PLANTED = """
question = "Which index is worth its cost?"
margin = "10 %"
baseline = { index = "all-indexes" }
[target]
settings = { full_page_writes = "off" }
[workload]
schema = "planted.sql"
script = ["count-hit.sql", "find-owner.sql"]
clients = 2
[design]
blocks = 10
reset = ["vacuum"]
warm_up = "30 ms"
window = "150 ms"
[quick]
levels = { index = ["all-indexes", "without-busy_hits", "without-busy_owner", "without-quiet_note"] }
[factors.index]
candidates = "secondary-indexes"
"""
FILES = {
    "planted.sql": """
CREATE TABLE busy (id int PRIMARY KEY, hits int NOT NULL, owner int NOT NULL, filler text) WITH (fillfactor = 70);
INSERT INTO busy SELECT i, 0, i % 2000, repeat('x', 50) FROM generate_series(1, 20000) AS i;
CREATE INDEX busy_hits ON busy (hits);
CREATE INDEX busy_owner ON busy (owner);
CREATE TABLE quiet (id int, note int);
INSERT INTO quiet SELECT i, i FROM generate_series(1, 1000) AS i;
CREATE INDEX quiet_note ON quiet (note);
""",
    "count-hit.sql": "\\set id random(1, 20000)\nUPDATE busy SET hits = hits + 1 WHERE id = :id;\n",
    "find-owner.sql": "\\set owner random(0, 1999)\nSELECT count(*) FROM busy WHERE owner = :owner;\n",
}


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """By index."""
    directory = tmp_path_factory.mktemp("indexes")
    findings = run_experiment(write_experiment(directory, PLANTED, FILES), directory / "run", "--quick")
    return {verdict["index"]: verdict for verdict in findings["indexes"]}


def test_a_useless_index_is_dropped_for_what_writing_it_costs(verdicts: dict[str, dict[str, Any]]) -> None:
    """On a column that every update changes, and that nobody asks for."""
    verdict = verdicts["busy_hits"]
    costs = {cost["figure"]: cost for cost in verdict["costs"]}

    assert verdict["verdict"] == "drop"
    assert (verdict["scans_per_unit"], verdict["benefits"]) == (0, [])
    assert costs["wal_bytes_per_row_written"]["saved"]
    assert costs["wal_bytes_per_row_written"]["change"]["high"] < 0.9
    assert costs["hot_share"]["saved"]
    assert costs["hot_share"]["with_index"] == 0
    assert (verdict["sql"], verdict["undo"]) == (
        "DROP INDEX busy_hits;",
        "CREATE INDEX busy_hits ON busy USING btree (hits);",
    )
    assert verdict["bytes"] > 8192


def test_a_vital_index_is_kept_for_the_transaction_that_needs_it(verdicts: dict[str, dict[str, Any]]) -> None:
    """The search by owner; the update, whose plan does not use it, is not asked."""
    verdict = verdicts["busy_owner"]
    (user,) = verdict["benefits"]

    assert verdict["verdict"] == "keep"
    assert (user["script"], user["verdict"]) == ("find-owner.sql", "slower")
    assert user["ratio"]["low"] > 2
    assert verdict["scans_per_unit"] > 0.1


def test_an_index_of_no_effect_has_no_evidence(verdicts: dict[str, dict[str, Any]]) -> None:
    """Neither written nor read."""
    verdict = verdicts["quiet_note"]

    assert verdict["verdict"] == "no evidence"
    assert (verdict["scans_per_unit"], verdict["benefits"]) == (0, [])
    assert not any(cost["saved"] for cost in verdict["costs"])


@pytest.mark.nightly
def test_a_resumed_run_finds_the_same_arms_or_refuses(tmp_path: Path) -> None:
    """The schema is built again and searched again; with one index less there is an arm that nobody can run."""
    path = write_experiment(tmp_path, PLANTED.replace("blocks = 10", "blocks = 1"), FILES)
    run = tmp_path / "run"
    whole = run_experiment(path, run, "--quick")
    journal = run / "journal.jsonl"
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:-3]))  # two trials, and the end
    interrupted = journal.read_text()

    resumed = json.loads(_resume(run).stdout)
    journal.write_text(interrupted)
    schema = run / "experiment" / "planted.sql"
    schema.write_text(schema.read_text().replace("CREATE INDEX quiet_note", "CREATE UNIQUE INDEX quiet_note"))
    refused = _resume(run)

    assert [arm["arm"] for arm in resumed["arms"]] == [arm["arm"] for arm in whole["arms"]]
    assert resumed["blocks_complete"] == 1
    assert refused.returncode == 2
    assert "without-quiet_note" in refused.stderr


def _resume(run: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command("run", "--resume", run, "--json"), capture_output=True, text=True, timeout=120, check=False
    )
