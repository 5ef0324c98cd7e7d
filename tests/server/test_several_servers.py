"""One run on several servers: other binaries, another URL; each started once, each arm on its own."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from small_experiment import SMALL, command, run_experiment, trials_of, write_experiment

from dbdyno.design.experiment import load_experiment
from dbdyno.runner.prepare import prepare_arms
from dbdyno.runner.servers import DEFAULT, Servers
from dbdyno.targets.binaries import find_binaries
from dbdyno.targets.embedded import EmbeddedServer
from dbdyno.targets.external import ExternalServer

pytestmark = pytest.mark.server

DEBIAN = Path("/usr/lib/postgresql/15/bin")

BUILDS = """
question = "Which build?"
baseline = { build = "ours" }
[workload]
schema = "make.sql"
script = "look.sql"
[design]
blocks = 1
reset = ["restore", "checkpoint"]
warm_up = "10 ms"
window = "50 ms"
[factors.build]
ours = {}
"""
FILES = {"make.sql": "CREATE TABLE t AS SELECT 1 AS n;", "look.sql": "SELECT n FROM t;\n"}


@pytest.fixture
def second_build(cache: Path) -> Path:
    """Another PostgreSQL where there is one, or the same one by another path; a link, as a user may have it."""
    link = cache / "second-build"
    binaries = DEBIAN if DEBIAN.is_dir() else find_binaries(None).directory
    link.unlink(missing_ok=True)
    link.symlink_to(binaries)
    return link


def records(run: Path, kind: str) -> list[dict[str, object]]:
    lines = map(json.loads, (run / "journal.jsonl").read_text().splitlines())
    return [line["body"] for line in lines if line["kind"] == kind]


def test_binaries_as_a_factor(tmp_path: Path, second_build: Path, cache: Path) -> None:
    """Two embedded servers side by side, told apart in the records; a run goes on with the versions of then only."""
    text = BUILDS + f'theirs = {{ server_bin = "{second_build}" }}\n'
    experiment = write_experiment(tmp_path, text, FILES)
    run = tmp_path / "run"
    findings = run_experiment(experiment, run, "--blocks", 2)

    versions = [find_binaries(None).version, find_binaries(second_build).version]
    (machine,) = records(run, "machine")
    assert [server["version"] for server in machine["servers"]] == versions  # type: ignore[attr-defined]
    assert machine["server"] == machine["servers"][0]  # type: ignore[index]
    assert [arm["server"] for arm in records(run, "run")[0]["arms"]] == [0, 1]  # type: ignore[attr-defined]
    assert [arm["trials"] for arm in findings["arms"]] == [2, 2]
    assert findings["versions"]["server"] == versions[0]
    assert [path.name for path in (cache / "data").iterdir() if not path.name.startswith(".")] == []
    if versions[0] == versions[1]:
        return

    shown = subprocess.run(command("report", run), capture_output=True, text=True, check=True, timeout=60).stdout
    assert f"PostgreSQL {versions[0]} and {versions[1]}" in shown
    assert re.search(rf"server 1 version\W.*{re.escape(versions[1])}", (run / "report.html").read_text(), re.DOTALL)
    lines = (run / "journal.jsonl").read_text().splitlines(keepends=True)
    (run / "journal.jsonl").write_text("".join(lines[:4]))
    second_build.unlink()
    second_build.symlink_to(find_binaries(None).directory)
    resumed = subprocess.run(command("run", "--resume", run), capture_output=True, text=True, check=False, timeout=60)
    assert resumed.returncode == 2
    assert f"server.version was '{', '.join(versions)}' and is" in resumed.stderr.splitlines()[-1]


def test_a_url_as_a_level(tmp_path: Path, cache: Path) -> None:
    """What the flags allow holds for it, too, and nothing of ours stays there."""
    with EmbeddedServer() as other:
        text = BUILDS + f'theirs = {{ target = "{other.endpoint.display()}" }}\n'
        experiment = write_experiment(tmp_path, text, FILES)
        refused = subprocess.run(
            command("run", experiment, "--out", tmp_path / "refused"),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        findings = run_experiment(experiment, tmp_path / "run", "--allow-write")
        with other.connect() as session:
            left = session.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'dbdyno%'").fetchall()

    assert refused.returncode == 2
    assert refused.stderr.splitlines()[-1].endswith("this needs a schema of its own there; give --allow-write")
    (machine,) = records(tmp_path / "run", "machine")
    assert [server["embedded"] for server in machine["servers"]] == [True, False]  # type: ignore[attr-defined]
    assert [arm["trials"] for arm in findings["arms"]] == [1, 1]
    assert "no_checkpoint" in [warning["code"] for warning in findings["warnings"]]
    for trial in trials_of(tmp_path / "run"):
        assert [step["step"] for step in trial["reset"]] == ["restore", "checkpoint"]
        assert trial["reset"][0]["bytes"] > 0
        assert ("left_out" in trial["reset"][1]) == (trial["arm"] == "theirs")
    assert left == []


def test_a_server_that_no_arm_uses_is_not_started(tmp_path: Path, second_build: Path) -> None:
    """The first that an arm names speaks for the run; a flag for the default one is refused."""
    build = find_binaries(None).directory
    own = BUILDS.replace(
        "ours = {}", f'ours = {{ server_bin = "{build}" }}\ntheirs = {{ server_bin = "{second_build}" }}'
    )
    experiment = write_experiment(tmp_path, own, FILES)
    run_experiment(experiment, tmp_path / "run")
    refused = subprocess.run(
        command("run", experiment, "--out", tmp_path / "refused", "--server-bin", build),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    (machine,) = records(tmp_path / "run", "machine")
    assert len(machine["servers"]) == 2  # type: ignore[arg-type]
    assert [arm["server"] for arm in records(tmp_path / "run", "run")[0]["arms"]] == [0, 1]  # type: ignore[attr-defined]
    assert refused.returncode == 2
    assert refused.stderr.strip() == ("dbdyno: --server-bin: every arm's level names a server of its own; leave it out")


def test_a_build_that_is_none(tmp_path: Path) -> None:
    """The key, the value, the fix."""
    experiment = write_experiment(tmp_path, SMALL.replace("clients = 2 }", f'server_bin = "{tmp_path}" }}'))
    refused = subprocess.run(
        command("run", experiment, "--out", tmp_path / "run"), capture_output=True, text=True, check=False, timeout=60
    )

    assert refused.returncode == 2
    assert refused.stderr.strip() == (
        f"dbdyno: server_bin {tmp_path}: no executable postgres or initdb there; "
        "name the bin directory of a PostgreSQL server"
    )


def test_a_measured_value_is_of_the_arm_s_own_server(server: EmbeddedServer, tmp_path: Path) -> None:
    """The flush time of our disk says nothing of another server's, though both are in one run."""
    url = server.endpoint.display()
    measured = "set = { commit_delay = { measured = 'flush_time_us' } }"
    levels = (
        f"{measured} }}\nelsewhere = {{ target = '{url}', {measured} }}\nplain = {{ target = '{url}', clients = 2 }}"
    )
    experiment = load_experiment(write_experiment(tmp_path, BUILDS.replace("ours = {}", f"ours = {{ {levels}"), FILES))
    elsewhere = experiment.arm("elsewhere").server
    with ExternalServer(server.endpoint, allow_write=True) as other:
        servers = Servers({DEFAULT: server, elsewhere: other})
        prepared, left_out = prepare_arms(experiment, servers, {"flush_time_ns_p50": 800_000})

    assert [(each.arm.name, each.session) for each in prepared] == [("ours", {"commit_delay": "800"}), ("plain", {})]
    assert [(each.arm, each.reason) for each in left_out] == [
        ("elsewhere", "commit_delay follows flush_time_us, which is measured only on a server of dbdyno's own")
    ]
