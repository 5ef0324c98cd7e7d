"""Runs that end before their last block, on a real server, and what a plan says of them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from dbdyno.commands.app import run
from dbdyno.store import null_arms, run_directory

pytestmark = [pytest.mark.server, pytest.mark.usefixtures("cache")]

# Twice the work: no machine is so noisy that 12 blocks do not show it.
EXPERIMENT = """
question = "Is twice the work slower?"
baseline = { work = "once" }

[workload]
schema = "none"
script = "work.sql"

[design]
reset = []
warm_up = "20 ms"
window = "60 ms"

[factors.work]
once = { variables = { rounds = 20000 } }
thrice = { variables = { rounds = 60000 } }
"""
SCRIPT = "SELECT count(*) FROM generate_series(1, :rounds);\n"


@pytest.fixture
def experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file, and a state directory of its own."""
    monkeypatch.setenv("DBDYNO_STATE_DIR", str(tmp_path / "state"))
    (tmp_path / "work.sql").write_text(SCRIPT)
    path = tmp_path / "work.toml"
    path.write_text(EXPERIMENT)
    return path


def findings_of(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The document on stdout."""
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_a_clear_effect_ends_the_run_at_the_first_look(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """12 of 30 blocks, with a null arm, which is no comparison and goes into the ledger; there is nothing to resume."""
    out = tmp_path / "run"

    assert run(["run", str(experiment), "--null-arm", "--seed", "5", "--out", str(out), "--json"]) == 0

    found = findings_of(capsys)
    assert [(one["arm"], one["verdict"]) for one in found["comparisons"]] == [("thrice", "worse")]
    assert (found["blocks"], found["blocks_complete"]) == (30, 12)
    assert found["stopping"] == {
        "until_decided": False, "looks": [12, 18, 24, 30], "looked_at": [12], "decided_early": True,
    }  # fmt: skip
    assert found["null_arm"]["arm"] == "null-arm"
    host = found["machine"]["host"]
    assert null_arms.counted(os.environ, host) == {"runs": 1, "different": int(found["null_arm"]["different"])}
    stored, contents = run_directory.read(out)
    assert stored.ended
    assert contents.records[-1].body["reason"] == "decided"
    assert run(["run", "--resume", str(out)]) == 2
    assert "is complete" in capsys.readouterr().err


def test_a_run_that_was_killed_at_a_look_stops_when_it_is_resumed(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The journal without its `end` record: not a trial more is run."""
    out = tmp_path / "run"
    run(["run", str(experiment), "--seed", "5", "--out", str(out), "--json"])
    before = run_directory.read(out)[0].trials
    journal = out / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-1]))
    capsys.readouterr()

    assert run(["run", "--resume", str(out), "--json"]) == 0

    assert findings_of(capsys)["stopping"]["decided_early"] is True
    stored, contents = run_directory.read(out)
    assert len(before) >= 2 * 12  # on a busy machine a trial may fail and be run again
    assert stored.trials == before
    assert contents.records[-1].body["reason"] == "decided"


def test_until_decided_needs_no_look(experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It ends as soon as the bet is won: between the sixth block and the thirtieth, for three times the work."""
    out = tmp_path / "run"

    assert run(["run", str(experiment), "--until-decided", "--seed", "5", "--out", str(out), "--json"]) == 0

    found = findings_of(capsys)
    assert [one["verdict"] for one in found["comparisons"]] == ["worse"]
    assert found["blocks"] == 60
    assert 6 < found["blocks_complete"] < 30
    assert found["stopping"]["decided_early"] is True


def test_a_plan_starts_nothing(experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What would be run, in which order, and how long it takes at least."""
    assert run(["plan", str(experiment), "--blocks", "20", "--seed", "5", "--json"]) == 0

    plan = findings_of(capsys)
    assert (plan["trials"], plan["looks"], plan["pilot"]) == (40, [8, 12, 16, 20], None)
    assert plan["seconds_at_least"] == pytest.approx(40 * 0.08)
    assert plan["scripts"] == {"work.sql": SCRIPT}
    assert len(plan["schedule"]) == 40
    assert sorted(path.name for path in tmp_path.iterdir()) == ["work.sql", "work.toml"]
    run(["run", str(experiment), "--blocks", "6", "--seed", "5", "--out", str(tmp_path / "run"), "--json"])
    done = [{**place, "status": None} for place in findings_of(capsys)["schedule"][:12]]
    assert done == [{**place, "status": None} for place in plan["schedule"][:12]]  # one that was disturbed is repeated


def test_a_pilot_says_what_the_run_can_tell(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Eight blocks in a directory of their own; the same plan on the terminal."""
    out = tmp_path / "pilot"

    assert run(["plan", str(experiment), "--pilot", "--out", str(out), "--json"]) == 0

    plan = findings_of(capsys)
    stored, _ = run_directory.read(out)
    done = {(trial["block"], trial["position"]) for trial in stored.trials if trial["status"] == "ok"}
    assert (stored.run["blocks"], len(done)) == (8, 16)  # one that was disturbed is repeated
    assert (plan["blocks"], plan["pilot"]["outlook"]["blocks"]) == (30, 30)
    assert plan["pilot"]["seconds"] == pytest.approx(60 * plan["pilot"]["seconds_per_trial"])
    assert 0 < plan["pilot"]["outlook"]["smallest_effect"] < 10
    assert plan["pilot"]["schema_bytes"] == 0


def test_levels_that_are_found_have_no_looks(capsys: pytest.CaptureFixture[str]) -> None:
    """What an index is worth is asked once, at the end."""
    assert run(["plan", "drop-indexes", "--until-decided"]) == 2
    assert "--until-decided: experiment.toml finds its levels in the schema" in capsys.readouterr().err
    assert run(["plan", "drop-indexes", "--blocks", "30", "--json"]) == 0
    assert findings_of(capsys)["looks"] == [30]
